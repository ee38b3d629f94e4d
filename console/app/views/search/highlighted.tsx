/** A text with marks at the places that the API names: pieces of text, never markup. */

export function Highlighted({ text, ranges }: { text: string; ranges: readonly (readonly [number, number])[] }) {
  const pieces: { text: string; isMarked: boolean; at: number }[] = [];
  let at = 0;
  for (const [from, to] of [...ranges].sort(([one], [other]) => one - other)) {
    if (from < at) continue;
    pieces.push(
      { text: text.slice(at, from), isMarked: false, at },
      { text: text.slice(from, to), isMarked: true, at: from },
    );
    at = to;
  }
  pieces.push({ text: text.slice(at), isMarked: false, at });
  return <>{pieces.map((piece) => (piece.isMarked ? <mark key={`m${piece.at}`}>{piece.text}</mark> : piece.text))}</>;
}

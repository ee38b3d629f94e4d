/** Texts that are longer than a model reads: they are embedded in parts, so that none of their words is cut. */

/** Of UTF-8; less than a token takes in most texts of any script. */
const BYTES_PER_TOKEN = 3;

/**
 * @param tokens that the model reads; undefined: not known
 * @returns the text itself where it is short enough
 */
export function partsOf(text: string, tokens: number | undefined): string[] {
  const most = tokens === undefined ? Number.POSITIVE_INFINITY : tokens * BYTES_PER_TOKEN;
  if (Buffer.byteLength(text) <= most) return [text];
  const parts: string[] = [];
  let part = "";
  // scripts without spaces are cut between characters, which have up to four bytes
  const word = new RegExp(`\\S{1,${Math.max(1, Math.floor(most / 4))}}\\s*|^\\s+`, "gu");
  for (const [piece] of text.matchAll(word)) {
    if (part !== "" && Buffer.byteLength(part) + Buffer.byteLength(piece) > most) {
      parts.push(part);
      part = "";
    }
    part += piece;
  }
  return part === "" ? parts : [...parts, part];
}

/**
 * The vectors of texts from those of their parts: the mean by length of the part, brought to length 1.
 * @param parts of each text
 * @param vectors of all parts, in order
 */
export function joinParts(parts: readonly (readonly string[])[], vectors: readonly Float32Array[]): Float32Array[] {
  let at = 0;
  return parts.map((own) => {
    const theirs = vectors.slice(at, at + own.length);
    at += own.length;
    const [first] = theirs;
    if (first === undefined || theirs.length === 1) return first ?? new Float32Array();
    const sum = new Float32Array(first.length);
    for (const [index, vector] of theirs.entries()) {
      const weight = own[index]?.length ?? 0;
      for (const [place, value] of vector.entries()) sum[place] = (sum[place] ?? 0) + weight * value;
    }
    return normalised(sum);
  });
}

/** As it is where it has no length. */
export function normalised(vector: Float32Array): Float32Array {
  const norm = Math.hypot(...vector);
  return norm > 0 && Number.isFinite(norm) ? vector.map((value) => value / norm) : vector;
}

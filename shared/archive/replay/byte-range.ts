/** One range of a body (RFC 9110, section 14). */

export interface ByteRange {
  /** Both inclusive. */
  first: number;
  last: number;
}

/**
 * @param header `Range`
 * @returns undefined where the whole body is meant, as with ranges that are none or several, or the end of an empty
 *   one; `beyond` where nothing of the body lies in it
 */
export function byteRange(header: string | undefined, length: number): ByteRange | "beyond" | undefined {
  const [, from, to] = /^\s*bytes\s*=\s*(\d*)\s*-\s*(\d*)\s*$/i.exec(header ?? "") ?? [];
  if (from === undefined || to === undefined || (from === "" && to === "")) return undefined;
  if (from === "") {
    const suffix = Number(to);
    if (suffix === 0) return "beyond";
    return length === 0 ? undefined : { first: Math.max(0, length - suffix), last: length - 1 };
  }
  const first = Number(from);
  const last = to === "" ? length - 1 : Math.min(Number(to), length - 1);
  if (to !== "" && Number(to) < first) return undefined;
  return first >= length ? "beyond" : { first, last };
}

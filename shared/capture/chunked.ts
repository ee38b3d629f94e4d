/** Undoes the chunked framing that some archivers keep, RFC 9112 section 7.1. */

/**
 * @returns the body as it is where it has no such framing, whatever its headers say; `cut` where the framing ends
 *   before its end
 */
export function withoutChunks(body: Buffer): { body: Buffer; cut: boolean } {
  const parts: Buffer[] = [];
  for (let at = 0; ; ) {
    const line = body.indexOf("\n", at);
    const size = /^([0-9a-f]{1,8})[ \t]*(?:;[^\r\n]*)?\r?$/i.exec(
      body.toString("latin1", at, line < 0 ? at : line),
    )?.[1];
    if (size === undefined)
      return parts.length === 0 ? { body, cut: false } : { body: Buffer.concat(parts), cut: true };
    const length = Number.parseInt(size, 16);
    if (length === 0) return { body: Buffer.concat(parts), cut: false };
    const part = body.subarray(line + 1, line + 1 + length);
    parts.push(part);
    if (part.length < length) return { body: Buffer.concat(parts), cut: true };
    at = line + 1 + length;
    if (body[at] === 0x0d) at += 1;
    if (body[at] === 0x0a) at += 1;
  }
}

/** Undoes the chunked framing that some archivers keep, RFC 9112 section 7.1. */

/** Of a line that tells a size, with its extensions, in bytes. */
const LONGEST_LINE = 64 * 1024;
const SIZE = /^([0-9a-f]{1,8})[ \t]*(?:;[^\r\n]*)?\r?\n$/i;

/** A body that comes in pieces; it stays as it is where it has no such framing, whatever its headers say. */
export class ChunkedBody {
  #state: "line" | "data" | "done" | "broken" | "plain" = "line";
  /** Of a line that has not come to its end. */
  #line: Buffer = Buffer.alloc(0);
  /** Of the present chunk, to come. */
  #left = 0;
  #begun = false;
  #behindData = false;

  /** @returns what it holds of the body */
  add(bytes: Buffer): Buffer[] {
    const parts: Buffer[] = [];
    for (let at = 0; at < bytes.length; ) {
      if (this.#state === "done" || this.#state === "broken") break;
      if (this.#state === "plain") {
        parts.push(bytes.subarray(at));
        break;
      }
      if (this.#state === "data") {
        const part = bytes.subarray(at, at + this.#left);
        parts.push(part);
        at += part.length;
        this.#left -= part.length;
        if (this.#left > 0) break;
        [this.#state, this.#behindData] = ["line", true];
        continue;
      }
      const end = bytes.indexOf("\n", at);
      const piece = end < 0 ? bytes.subarray(at) : bytes.subarray(at, end + 1);
      at += piece.length;
      this.#line = this.#line.length === 0 ? piece : Buffer.concat([this.#line, piece]);
      if (end < 0 && this.#line.length <= LONGEST_LINE) break;
      parts.push(...this.#readLine());
    }
    return parts;
  }

  #readLine(): Buffer[] {
    const line = this.#line;
    const text = line.toString("latin1", 0, LONGEST_LINE + 1);
    const size = SIZE.exec(this.#behindData ? text.replace(/^\r/, "") : text)?.[1];
    const isEnd = this.#behindData && /^\r?\n$/.test(text);
    this.#behindData = false;
    this.#line = Buffer.alloc(0);
    if (isEnd) return [];
    if (size === undefined) {
      this.#state = this.#begun ? "broken" : "plain";
      return this.#begun ? [] : [line];
    }
    this.#begun = true;
    this.#left = Number.parseInt(size, 16);
    this.#state = this.#left === 0 ? "done" : "data";
    return [];
  }

  /** Once all has come. */
  end(): { rest: Buffer; cut: boolean } {
    return { rest: this.#begun ? Buffer.alloc(0) : this.#line, cut: this.#begun && this.#state !== "done" };
  }
}

/** @returns `cut` where the framing ends before its end */
export function withoutChunks(body: Buffer): { body: Buffer; cut: boolean } {
  const chunked = new ChunkedBody();
  const parts = chunked.add(body);
  const { rest, cut } = chunked.end();
  parts.push(rest);
  return { body: Buffer.concat(parts), cut };
}

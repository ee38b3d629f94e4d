/** The bytes of a file as they come in, with a look ahead as long as asked for, and the place in the file. */

/** Opens a file at a place: its bytes from there to the end. */
export type ByteSource = (offset: number) => AsyncIterable<Uint8Array>;

export class ByteWindow {
  /** Of the next unread byte, from the start of the file. */
  offset: number;
  /** What is at hand; `fill` makes it longer. */
  unread: Buffer = Buffer.alloc(0);
  #open: ByteSource;
  #source: AsyncIterator<Uint8Array>;
  #atEnd = false;

  constructor(open: ByteSource, offset: number) {
    this.#open = open;
    this.offset = offset;
    this.#source = open(offset)[Symbol.asyncIterator]();
  }

  /** Reads on until `length` bytes are at hand; fewer are where the file ends. */
  async fill(length: number): Promise<Buffer> {
    if (this.unread.length >= length || this.#atEnd) return this.unread;
    const parts = this.unread.length === 0 ? [] : [this.unread];
    let total = this.unread.length;
    while (total < length) {
      const next = await this.#source.next();
      if (next.done) {
        this.#atEnd = true;
        break;
      }
      const { buffer, byteOffset, byteLength } = next.value;
      parts.push(Buffer.from(buffer, byteOffset, byteLength));
      total += byteLength;
    }
    this.unread = parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);
    return this.unread;
  }

  skip(length: number): void {
    this.unread = this.unread.subarray(length);
    this.offset += length;
  }

  /** Goes on at another place. */
  async moveTo(offset: number): Promise<void> {
    const ahead = offset - this.offset;
    if (ahead >= 0 && ahead <= this.unread.length) return this.skip(ahead);
    await this.close();
    this.#source = this.#open(offset)[Symbol.asyncIterator]();
    this.#atEnd = false;
    this.unread = Buffer.alloc(0);
    this.offset = offset;
  }

  /** Lets go of the file. */
  async close(): Promise<void> {
    await this.#source.return?.();
  }
}

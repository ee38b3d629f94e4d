/**
 * The rows of a long list, by their place in it. They are read in blocks, those alone that somebody looks at, and the
 * blocks that were looked at longest ago are forgotten: memory does not grow with the list.
 */

export interface Block<T> {
  items: readonly T[];
  /** Where the next block begins; null behind the last one. */
  next: string | null;
  /** How many rows the list has, where the API says so. */
  total?: number | undefined;
}

export interface Listing<T> {
  /** Rows of a block, of the last one at the most. */
  size: number;
  /** Reads the block that begins there; undefined: the first one. */
  read(cursor: string | undefined, signal: AbortSignal): Promise<Block<T>>;
  /** Where a block begins, by its number, in a list whose rows are numbered. Others are read one behind another. */
  cursorOf?(block: number): string;
}

/** Blocks that are kept. */
const KEPT = 24;

interface Kept<T> {
  items: readonly T[];
  /** As many rows as the list had when it was read: a block at its end has more once the list has grown. */
  count: number;
}

export class BlockList<T> {
  readonly #listing: Listing<T>;
  readonly #changed: (fault?: unknown) => void;
  readonly #gone = new AbortController();
  /** The one that was used last is the last one. */
  readonly #blocks = new Map<number, Kept<T>>();
  /** Where the blocks begin that have been reached so far. */
  readonly #cursors: (string | undefined)[] = [undefined];
  #count = 0;
  #isCounted = false;
  #isReading = false;
  #isOld = false;
  #wanted = { from: 0, to: 1 };

  /** @param changed is told whenever rows have come, and of what went wrong */
  constructor(listing: Listing<T>, changed: (fault?: unknown) => void) {
    this.#listing = listing;
    this.#changed = changed;
  }

  /** Rows that the list is known to have. */
  get count(): number {
    return this.#count;
  }

  /** Whether anything is known of the list. */
  get isCounted(): boolean {
    return this.#isCounted;
  }

  /** Rows that were passed on the way to those that are wanted; undefined where nothing is awaited. */
  get reached(): number | undefined {
    return this.#isReading ? Math.min(this.#count, this.#cursors.length * this.#listing.size) : undefined;
  }

  /** Gives a row; undefined where it is not here (yet). */
  at(index: number): T | undefined {
    const { size } = this.#listing;
    return this.#blocks.get(Math.floor(index / size))?.items[index % size];
  }

  /** Reads the rows from `from` up to `to`, if they are not here; what was wanted before is wanted no more. */
  want(from: number, to: number): void {
    this.#wanted = { from, to: Math.max(from + 1, to) };
    void this.#read();
  }

  /** The list may have more rows by now: it is asked how many. */
  refresh(): void {
    this.#isOld = true;
    void this.#read();
  }

  /**
   * Gives the place of the first row from `from` on that matches; undefined where none does.
   * @param passed is told how many rows were looked at
   * @throws ApiFault, and what an aborted request throws
   */
  async seek(
    matches: (item: T) => boolean,
    from: number,
    signal: AbortSignal,
    passed: (rows: number) => void,
  ): Promise<number | undefined> {
    const { size } = this.#listing;
    for (let block = Math.floor(from / size); block === 0 || block * size < this.#count; block += 1) {
      const items = await this.#itemsOf(block, signal);
      const found = items.findIndex((item, at) => block * size + at >= from && matches(item));
      if (found >= 0) return block * size + found;
      passed(block * size + items.length);
    }
    return undefined;
  }

  /** Nothing is read, or told, any more. */
  close(): void {
    this.#gone.abort();
  }

  async #read(): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      for (;;) {
        const block = this.#missing();
        if (block === undefined || this.#gone.signal.aborted) break;
        this.#isOld = false;
        await this.#load(this.#onTheWayTo(block), this.#gone.signal);
        if (!this.#gone.signal.aborted) this.#changed();
      }
      this.#isReading = false;
    } catch (error) {
      this.#isReading = false;
      if (!this.#gone.signal.aborted) this.#changed(error);
      return;
    }
    if (!this.#gone.signal.aborted) this.#changed();
  }

  /** The first block that is wanted and not here. */
  #missing(): number | undefined {
    const { size } = this.#listing;
    const { from, to } = this.#wanted;
    if (!this.#isCounted || (this.#isOld && this.#count === 0)) return 0;
    if (this.#isOld) return Math.floor(Math.min(from, this.#count - 1) / size);
    const last = Math.ceil(Math.min(to, this.#count) / size);
    for (let block = Math.floor(from / size); block < last; block += 1) {
      if (this.#isStale(block)) return block;
    }
    return undefined;
  }

  #isStale(block: number): boolean {
    const kept = this.#blocks.get(block);
    const rows = Math.min(this.#listing.size, this.#count - block * this.#listing.size);
    return kept === undefined || (kept.items.length < rows && kept.count !== this.#count);
  }

  /** The block itself, or the last one before it whose beginning is known. */
  #onTheWayTo(block: number): number {
    return this.#listing.cursorOf === undefined ? Math.min(block, this.#cursors.length - 1) : block;
  }

  async #itemsOf(block: number, signal: AbortSignal): Promise<readonly T[]> {
    for (;;) {
      const kept = this.#blocks.get(block);
      if (kept !== undefined && !this.#isStale(block)) return kept.items;
      const next = this.#onTheWayTo(block);
      const items = await this.#load(next, signal);
      if (next === block) return items;
      if (this.#onTheWayTo(block) === next) return [];
    }
  }

  async #load(block: number, signal: AbortSignal): Promise<readonly T[]> {
    const { read, cursorOf, size } = this.#listing;
    const { items, next, total } = await read(cursorOf?.(block) ?? this.#cursors[block], signal);
    if (next !== null && cursorOf === undefined) this.#cursors[block + 1] = next;
    // where the API does not count, there is one row more than was seen as long as something follows
    const seen = block * size + items.length + (next === null || cursorOf !== undefined ? 0 : 1);
    const end = cursorOf === undefined && next === null ? block * size + items.length : undefined;
    this.#count = end ?? total ?? Math.max(this.#count, seen);
    this.#isCounted = true;
    this.#blocks.delete(block);
    this.#blocks.set(block, { items, count: this.#count });
    for (const oldest of this.#blocks.keys()) {
      if (this.#blocks.size <= KEPT) break;
      this.#blocks.delete(oldest);
    }
    return items;
  }
}

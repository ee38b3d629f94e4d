/** Counts what the tasks of one worker hold back together, so that it stays within the memory of the worker. */
export interface HeldCaptures {
  /** @param size bytes of WARC and code units of text, less than 0 where they were delivered */
  add(size: number): void;
  /** Whether whoever adds more should deliver what it has. */
  readonly full: boolean;
}

export function createHeldCaptures(limit: number): HeldCaptures {
  let held = 0;
  return {
    add(size) {
      held += size;
    },
    get full() {
      return held > limit;
    },
  };
}

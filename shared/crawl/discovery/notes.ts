/** What a discovery reports of its sources beside the URLs: one note for each source and cause. */
import type { DiscoveryNote } from "./task.ts";

/** Together they travel in a queue message. */
const MOST_NOTES = 200;
const LONGEST_TEXT = 500;

export interface Notes {
  add(source: string, code: string, message: string): void;
  /** One more entry that was refused for this cause. */
  count(source: string, code: string, message: string): void;
  all(): DiscoveryNote[];
}

export function createNotes(): Notes {
  const notes = new Map<string, DiscoveryNote>();
  let dropped = 0;
  const take = (source: string, code: string, message: string, counted: boolean): void => {
    const key = `${code} ${source}`;
    const held = notes.get(key);
    if (held !== undefined) {
      if (held.count !== null) held.count += 1;
      return;
    }
    if (notes.size >= MOST_NOTES) {
      dropped += 1;
      return;
    }
    notes.set(key, {
      source: source.slice(0, LONGEST_TEXT),
      code,
      message: message.slice(0, LONGEST_TEXT),
      count: counted ? 1 : null,
    });
  };
  return {
    add: (source, code, message) => take(source, code, message, false),
    count: (source, code, message) => take(source, code, message, true),
    all() {
      const more = { source: "notes", code: "MORE_NOTES", message: `${dropped} more things to note are left out` };
      return [...notes.values(), ...(dropped === 0 ? [] : [{ ...more, count: null }])];
    },
  };
}

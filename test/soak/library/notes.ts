/** Uploaded notes that are changed at random, one change after the other for each of them. */
import { expect } from "vitest";
import type { State } from "./known-state.ts";
import { KnownStates } from "./known-state.ts";
import { ask, documentsAt, type Library } from "./library-api.ts";

export type Random = () => number;
export const oneOf = <T>(random: Random, all: readonly T[]): T => all[Math.floor(random() * all.length)] as T;

export const TAGS = ["red", "green", "blue"] as const;
const MOST_AT_ONCE = 8;

export interface Note {
  number: number;
  url: string;
  /** Of the newest version. */
  id: string;
  version: number;
  busy: boolean;
}

/** Found by no other note's. */
export const markerOf = (number: number): string => `zqmark${number}q`;

const textOf = (number: number, version: number): string =>
  `# Note ${number}\n\nThis is version ${version} of note ${number}, called ${markerOf(number)}. It speaks of lighthouses, tides and ` +
  "the harbour wall, as all of these notes do, so that one question finds many of them.";

export const versionIn = (content: string): number => Number(/This is version (\d+) of note/.exec(content)?.[1]);

interface Changed {
  changed: string[];
  failed: { document_id: string; code: string }[];
}

export class Notes {
  readonly known = new KnownStates();
  readonly all: Note[];
  private readonly library: Library;
  private readonly random: Random;

  constructor(library: Library, random: Random, count: number) {
    this.library = library;
    this.random = random;
    this.all = Array.from({ length: count }, (_, number) => {
      return { number, url: `https://notes.example/${number}`, id: "", version: 0, busy: false };
    });
  }

  async uploadAll(): Promise<void> {
    for (let at = 0; at < this.all.length; at += 50) {
      const notes = this.all.slice(at, at + 50);
      const documents = notes.map((note) => this.uploadOf(note, this.anyCollection(), this.someTags()));
      const { body } = await ask<{ items: { document_id: string }[] }>(this.library, "POST", "/documents/batch", {
        body: { documents },
      });
      for (const [nth, note] of notes.entries()) {
        note.id = body.items[nth]?.document_id ?? expect.fail("an upload has no answer");
        const { collection_id: collection = null, tags = [] } = documents[nth] ?? {};
        this.known.changeEnded(note.url, { visible: true, collection, tags, version: note.version });
      }
    }
  }

  /** One change of a note or of some. */
  async change(): Promise<void> {
    const free = this.all.filter(({ busy }) => !busy);
    const first = oneOf(this.random, free);
    const state = this.known.current(first.url) ?? expect.fail(`nobody knows what became of ${first.url}`);
    const alike = free.filter((each) => this.known.current(each.url)?.visible === state.visible && each !== first);
    const start = Math.floor(this.random() * alike.length);
    const some = [first, ...alike.slice(start, start + Math.floor(this.random() * MOST_AT_ONCE))];
    if (!state.visible) {
      if (this.random() < 0.3) await this.upload(first, state);
      else await this.restore(first, state);
      return;
    }
    const kind = this.random();
    if (kind < 0.2) await this.upload(first, state);
    else if (kind < 0.4) await this.delete(some);
    else if (kind < 0.7) await this.move(some);
    else await this.tag(some);
  }

  /** Finds out what became of the notes whose changes were cut off. */
  async learn(): Promise<void> {
    for (const note of this.all.filter(({ url }) => this.known.current(url) === undefined)) {
      const [there] = await documentsAt(this.library, note.url);
      const [gone] = there === undefined ? await documentsAt(this.library, note.url, true) : [];
      const document = there ?? gone ?? expect.fail(`${note.url} is neither there nor deleted`);
      const { body } = await ask<{ markdown: string }>(this.library, "GET", `/documents/${document.id}`);
      note.id = document.id;
      note.version = versionIn(body.markdown);
      const state = {
        visible: there !== undefined,
        collection: document.collection_id,
        tags: document.tags.map(({ name }) => name),
      };
      this.known.changeEnded(note.url, { ...state, version: note.version });
    }
  }

  private async during(notes: readonly Note[], work: () => Promise<(note: Note) => State>): Promise<void> {
    for (const note of notes) {
      note.busy = true;
      this.known.changeBegins(note.url);
    }
    try {
      const stateOf = await work();
      for (const note of notes) this.known.changeEnded(note.url, stateOf(note));
    } finally {
      for (const note of notes) note.busy = false;
    }
  }

  /** A new version, or the same one with other tags. */
  private upload(note: Note, { collection, visible, tags }: State): Promise<void> {
    const isSame = visible && this.random() < 0.3;
    if (!isSame) note.version += 1;
    return this.during([note], async () => {
      const upload = this.uploadOf(note, collection, this.someTags());
      const { status, body } = await ask<{ document_id: string }>(this.library, "POST", "/documents", { body: upload });
      expect({ status, body }).toMatchObject({ status: 201 });
      note.id = body.document_id;
      const all = isSame ? [...new Set([...tags, ...upload.tags])] : upload.tags;
      return () => ({ visible: true, collection, tags: all, version: note.version });
    });
  }

  private uploadOf({ number, url, version }: Note, collection: string | null, tags: readonly string[]) {
    const into = collection === null ? {} : { collection_id: collection };
    return { url, content: textOf(number, version), language: "en", tags, ...into };
  }

  private delete(notes: readonly Note[]): Promise<void> {
    const states = this.statesOf(notes);
    return this.during(notes, async () => {
      await this.bulk("/documents/delete", notes);
      return (note) => ({ ...states(note), visible: false });
    });
  }

  private restore(note: Note, state: State): Promise<void> {
    return this.during([note], async () => {
      const { status, body } = await ask(this.library, "POST", `/documents/${note.id}/restore`);
      expect({ status, body }).toMatchObject({ status: 200 });
      return () => ({ ...state, visible: true });
    });
  }

  private move(notes: readonly Note[]): Promise<void> {
    const states = this.statesOf(notes);
    return this.during(notes, async () => {
      const collection = oneOf(this.random, [this.library.collections.first, this.library.collections.second]);
      await this.bulk(`/collections/${collection}/documents`, notes);
      return (note) => ({ ...states(note), collection });
    });
  }

  private tag(notes: readonly Note[]): Promise<void> {
    const states = this.statesOf(notes);
    return this.during(notes, async () => {
      const [add, remove] = [oneOf(this.random, TAGS), oneOf(this.random, TAGS)];
      await this.bulk("/documents/tags", notes, { add: [add], remove: add === remove ? [] : [remove] });
      return (note) => {
        const state = states(note);
        const tags = state.tags.filter((tag) => tag === add || tag !== remove);
        return { ...state, tags: [...new Set([...tags, add])] };
      };
    });
  }

  private async bulk(path: string, notes: readonly Note[], more: object = {}): Promise<void> {
    const document_ids = notes.map(({ id }) => id);
    const { status, body } = await ask<Changed>(this.library, "POST", path, { body: { document_ids, ...more } });
    expect({ path, status, failed: body.failed }).toEqual({ path, status: 200, failed: [] });
  }

  /** As they are before a change begins. */
  private statesOf(notes: readonly Note[]): (note: Note) => State {
    const states = new Map(notes.map((note) => [note, this.known.current(note.url)]));
    return (note) => states.get(note) ?? expect.fail(`nobody knows what became of ${note.url}`);
  }

  private anyCollection = (): string =>
    oneOf(this.random, [this.library.collections.first, this.library.collections.second]);

  private someTags = (): string[] => TAGS.filter(() => this.random() < 0.4);
}

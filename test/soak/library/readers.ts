/** Readers who hold each answer against what is certain of the moment at which they asked. */
import type { State } from "./known-state.ts";
import { ask, type Library } from "./library-api.ts";
import { markerOf, type Notes, oneOf, type Random, TAGS, versionIn } from "./notes.ts";
import type { SitePages } from "./site-pages.ts";

interface Found {
  url: string;
  content: string;
}

interface SearchAnswer {
  results: Found[];
  next_cursor: string | null;
}

interface Asked {
  collection: string | null;
  tag: string | null;
  /** Number of the note that is looked for by its own word. */
  wanted: number | null;
}

const COMMON = "lighthouses, tides and the harbour wall";
const PATHS = { hybrid: "/search", keyword: "/search/keyword", vector: "/search/vector" } as const;
const NOTE = /^https:\/\/notes\.example\/(\d+)$/;

export class Readers {
  /** What no answer may say, as sentences. */
  readonly faults: string[] = [];
  answers = 0;
  private readonly library: Library;
  private readonly random: Random;
  private readonly notes: Notes;
  private readonly pages: SitePages;

  constructor(library: Library, random: Random, notes: Notes, pages: SitePages) {
    this.library = library;
    this.random = random;
    this.notes = notes;
    this.pages = pages;
  }

  async read(): Promise<void> {
    const kind = this.random();
    if (kind < 0.8) await this.search();
    else if (kind < 0.9) await this.list();
    else await this.readContext();
    this.answers += 1;
  }

  private async search(): Promise<void> {
    const { first, second } = this.library.collections;
    const mode = oneOf(this.random, ["hybrid", "keyword", "vector"] as const);
    const limited = this.random() < 0.35;
    const collection = limited ? first : oneOf(this.random, [first, second, null, null]);
    const tag = this.random() < 0.3 ? oneOf(this.random, TAGS) : null;
    const wanted = this.random() < 0.5 ? oneOf(this.random, this.notes.all).number : null;
    const asked = { collection, tag, wanted };
    const body = {
      query: wanted === null ? COMMON : markerOf(wanted),
      limit: wanted === null ? 40 : 10,
      ...(tag !== null && { tags: [tag] }),
      // the key's limit is to do by itself what the filter does
      ...(collection !== null && !limited && { collection_ids: [collection] }),
    };
    let from = this.notes.known.now();
    const { results, next_cursor } = await this.asks<SearchAnswer>(PATHS[mode], body, limited);
    const what = `${mode} ${JSON.stringify(body)}${limited ? " with the limited key" : ""}`;
    this.check(what, asked, results, from, mode !== "vector");
    if (results.length === 0 && wanted === null && tag === null) this.faults.push(`${what}: an empty answer`);
    if (next_cursor === null) return;
    from = this.notes.known.now();
    const next = await this.asks<SearchAnswer>(PATHS[mode], { ...body, cursor: next_cursor }, limited);
    this.check(`the next page of ${what}`, { ...asked, wanted: null }, next.results, from, false);
  }

  /** All documents that the limited key can see. */
  private async list(): Promise<void> {
    const from = this.notes.known.now();
    const { limitedKey, collections } = this.library;
    const { body } = await ask<{ items: { url: string }[] }>(this.library, "GET", "/documents?limit=200", {
      key: limitedKey,
    });
    const found = body.items.map(({ url }) => ({ url, content: "" }));
    this.check("the list of the limited key", { collection: collections.first, tag: null, wanted: null }, found, from);
  }

  private async readContext(): Promise<void> {
    const from = this.notes.known.now();
    const asked = { collection: this.library.collections.first, tag: null, wanted: null };
    const { citations } = await this.asks<{ citations: { url: string }[] }>("/context", { query: COMMON }, true);
    const found = citations.map(({ url }) => ({ url, content: "" }));
    this.check("a context with the limited key", asked, found, from);
  }

  private async asks<T>(path: string, body: object, limited: boolean): Promise<T> {
    const key = limited ? this.library.limitedKey : this.library.instance.apiKey;
    const answer = await ask<T>(this.library, "POST", path, { body, key });
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  /** @param complete whether the note that is looked for has to be there */
  private check(what: string, asked: Asked, found: readonly Found[], from: number, complete = false): void {
    const to = this.notes.known.now();
    const fault = (why: string) => this.faults.push(`${what}: ${why}`);
    for (const { url, content } of found) {
      if (!NOTE.test(url)) continue;
      const state = this.notes.known.throughout(url, from, to);
      if (state === undefined) continue;
      if (!state.visible) fault(`${url} was deleted`);
      else if (!matches(state, asked)) fault(`${url} is ${JSON.stringify(state)}`);
      if (content !== "" && versionIn(content) !== state.version) fault(`${url} has version ${versionIn(content)}`);
    }
    for (const each of this.pages.faultsIn(found, from, to)) fault(each);
    if (!complete || asked.wanted === null) return;
    const { url } = this.notes.all[asked.wanted] ?? { url: "" };
    const state = this.notes.known.throughout(url, from, to);
    const isThere = found.some((each) => each.url === url);
    if (state?.visible && matches(state, asked) && !isThere) fault(`${url} is missing`);
  }
}

const matches = ({ collection, tags }: State, asked: Asked): boolean =>
  (asked.collection === null || collection === asked.collection) && (asked.tag === null || tags.includes(asked.tag));

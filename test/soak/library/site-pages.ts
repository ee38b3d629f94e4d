/** A site that is crawled again and again, each time in another edition; some of its pages are deleted and restored. */
import { setTimeout as delay } from "node:timers/promises";
import { expect } from "vitest";
import type { GraphSite } from "../../services/graph-site.ts";
import type { JobAnswer } from "../../services/instance.ts";
import type { KnownStates } from "./known-state.ts";
import { ask, CutOff, documentsAt, type Library } from "./library-api.ts";
import { oneOf, type Random } from "./notes.ts";

export const PAGES = 40;
/** From this page on they are deleted and restored. */
const FIRST_CHANGED = 30;
/** Under which the known edition of the whole site stands. */
const EDITION = "site:edition";
const POLL_MS = 200;

interface Generation {
  id: string;
}

export class SitePages {
  /** Crawls that were completed, and generations that were activated again. */
  swaps = 0;
  private edition = 0;
  private readonly generationOf = new Map<number, string>();
  private readonly library: Library;
  private readonly site: GraphSite;
  private readonly random: Random;
  private readonly known: KnownStates;
  private readonly busy = new Set<number>();

  constructor(library: Library, site: GraphSite, random: Random, known: KnownStates) {
    this.library = library;
    this.site = site;
    this.random = random;
    this.known = known;
  }

  /** Crawls the site in its next edition, and now and then goes back to the one before. */
  async crawl(): Promise<void> {
    const before = this.known.current(EDITION)?.version;
    this.edition += 1;
    const edition = this.edition;
    this.site.setEdition(`e${edition}e`);
    this.known.changeBegins(EDITION);
    expect(await this.ended(await this.begin(edition))).toMatchObject({ status: "completed" });
    this.holds(edition);
    const [newest] = await this.again(() => this.generations());
    this.generationOf.set(edition, newest?.id ?? expect.fail("a crawl that completed has made no generation"));
    if (before === undefined || this.random() < 0.4) return;
    this.known.changeBegins(EDITION);
    const path = `/generations/${this.generationOf.get(before)}/activate`;
    const { status, body } = await this.again(() => ask(this.library, "POST", path));
    expect({ status, body }).toMatchObject({ status: 200, body: { state: "active" } });
    this.holds(before);
  }

  /** Deletes a page, or restores it. */
  async change(): Promise<void> {
    const free = Array.from({ length: PAGES - FIRST_CHANGED }, (_, nth) => FIRST_CHANGED + nth);
    const page = oneOf(
      this.random,
      free.filter((each) => !this.busy.has(each)),
    );
    const url = this.urlOf(page);
    this.busy.add(page);
    try {
      if (this.known.current(url)?.visible === false) {
        const [document] = await documentsAt(this.library, url, true);
        this.known.changeBegins(url);
        if (document === undefined) return;
        const { status } = await ask(this.library, "POST", `/documents/${document.id}/restore`);
        expect([200, 404, 409]).toContain(status);
        return;
      }
      const [document] = await documentsAt(this.library, url);
      if (document === undefined) return;
      const { status } = await ask(this.library, "DELETE", `/documents/${document.id}`);
      // it may be replaced meanwhile
      expect([204, 404]).toContain(status);
      if (status === 204) this.known.changeEnded(url, { visible: false, collection: null, tags: [], version: 0 });
    } finally {
      this.busy.delete(page);
    }
  }

  /** What is wrong with an answer that was asked for and came at these moments. */
  faultsIn(found: readonly { url: string; content: string }[], from: number, to: number): string[] {
    const faults: string[] = [];
    const editions = new Set<number>();
    for (const { url, content } of found) {
      if (!url.startsWith(this.site.url)) continue;
      if (this.known.throughout(url, from, to)?.visible === false) faults.push(`${url} was deleted`);
      const page = url === this.site.url ? 0 : Number(/(\d+)$/.exec(url)?.[1]);
      const edition = /the e(\d+)e edition/.exec(content)?.[1];
      if (page < FIRST_CHANGED && edition !== undefined) editions.add(Number(edition));
    }
    const state = this.known.throughout(EDITION, from, to);
    if (editions.size > 1) faults.push(`editions ${[...editions]} are mixed`);
    for (const edition of editions) {
      if (state !== undefined && edition !== state.version) faults.push(`edition ${edition}, not ${state.version}`);
    }
    return faults;
  }

  /** The same job, however often the answer is cut off. */
  private async begin(edition: number): Promise<string> {
    for (;;) {
      const { status, body } = await this.again(() =>
        ask<JobAnswer>(this.library, "POST", "/crawl/deep", {
          idempotencyKey: `edition-${edition}`,
          body: {
            ...{ url: this.site.url, max_depth: 50, max_pages: PAGES, collection_id: this.library.collections.site },
            config: { rate_limit_rps: 500 },
          },
        }),
      );
      if (status !== 409) {
        expect({ status, body }).toMatchObject({ body: { job_id: expect.any(String) } });
        return body.job_id;
      }
      await delay(POLL_MS);
    }
  }

  private async ended(jobId: string): Promise<JobAnswer> {
    for (;;) {
      const { body } = await this.again(() => ask<JobAnswer>(this.library, "GET", `/crawl/${jobId}?limit=1`));
      if (/completed|failed|cancelled/.test(body.status)) return body;
      await delay(POLL_MS);
    }
  }

  /** Newest first. */
  private async generations(): Promise<Generation[]> {
    const path = `/generations?collection_id=${this.library.collections.site}`;
    const { body } = await ask<{ items: Generation[] }>(this.library, "GET", path);
    return body.items;
  }

  private holds(version: number): void {
    this.swaps += 1;
    this.known.changeEnded(EDITION, { visible: true, collection: null, tags: [], version });
  }

  private urlOf = (page: number): string => (page === 0 ? this.site.url : `${this.site.url}p/${page}`);

  /** Asks until no kill cuts the answer off. */
  private async again<T>(work: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof CutOff)) throw error;
        await delay(POLL_MS);
      }
    }
  }
}

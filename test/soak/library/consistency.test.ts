/**
 * Documents are uploaded, tagged, moved, deleted, restored and crawled again at random while others search, and the
 * runtime is killed in between. What a change has answered holds for every search that is asked later.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, it } from "vitest";
import { seededRandom } from "../../../bench/zipf-corpus.ts";
import { startGraphSite } from "../../services/graph-site.ts";
import { startInstance } from "../../services/instance.ts";
import { CutOff, type Library } from "./library-api.ts";
import { Notes } from "./notes.ts";
import { Readers } from "./readers.ts";
import { PAGES, SitePages } from "./site-pages.ts";
import { expectEqualStores } from "./stores.ts";

/** To do again what has failed: SOAK_SEED. */
const SEED = Number(process.env["SOAK_SEED"] ?? Math.floor(Math.random() * 2 ** 31));
const NOTES = 200 - PAGES;
const KILLS = 2;
/** Between two kills. */
const CHANGES = 30;
const ANSWERS = 30;
const CHANGING = 4;
const READING = 4;
const POLL_MS = 20;

it(`shows no search what was changed before it was asked, and loses nothing, seed ${SEED}`, async () => {
  const random = seededRandom(SEED);
  const site = await startGraphSite(PAGES);
  const home = await mkdtemp(join(tmpdir(), "strandline consistency "));
  const env = { ACCESS__ALLOW_HOSTS: site.host, RATE_LIMIT__API_RPM: "1000000" };
  let instance = await startInstance({ home, env });
  try {
    const collection = async (name: string) =>
      (await instance.call<{ id: string }>("POST", "/api/v1/collections", { name })).id;
    const collections = {
      first: await collection("first"),
      second: await collection("second"),
      site: await collection("site"),
    };
    const limited = { name: "first", scopes: ["read"], collections: [collections.first] };
    const { key: limitedKey } = await instance.call<{ key: string }>("POST", "/api/v1/api-keys", limited);
    const library: Library = { instance, isKilled: false, collections, limitedKey };
    const notes = new Notes(library, random, NOTES);
    const pages = new SitePages(library, site, random, notes.known);
    const readers = new Readers(library, random, notes, pages);
    await notes.uploadAll();
    await pages.crawl();

    let ended = false;
    const crawling = (async () => {
      while (!ended) await pages.crawl();
    })();
    // it is awaited at the end
    crawling.catch(() => {});
    for (let kills = 0; kills <= KILLS; kills += 1) {
      let changes = 0;
      const enough = readers.answers + ANSWERS;
      const isEnough = () => changes >= CHANGES && readers.answers >= enough;
      const untilKilled = async (work: () => Promise<void>): Promise<void> => {
        while (!library.isKilled && !(kills === KILLS && isEnough()) && readers.faults.length === 0) {
          await work().catch((error: unknown) => {
            if (!(error instanceof CutOff)) throw error;
          });
        }
      };
      const change = async () => {
        await (random() < 0.15 ? pages.change() : notes.change());
        changes += 1;
      };
      const working = Promise.all([
        ...Array.from({ length: CHANGING }, () => untilKilled(change)),
        ...Array.from({ length: READING }, () => untilKilled(() => readers.read())),
      ]);
      if (kills < KILLS) {
        const enoughOrFailed = async () => {
          while (!isEnough() && readers.faults.length === 0) await delay(POLL_MS);
        };
        await Promise.race([enoughOrFailed(), working]);
        library.isKilled = true;
        await instance.kill();
        await working;
        instance = await startInstance({ home, port: instance.port, env });
        library.instance = instance;
        library.isKilled = false;
        await notes.learn();
      } else await working;
      expect(readers.faults).toEqual([]);
    }
    ended = true;
    await crawling;
    expect(pages.swaps).toBeGreaterThan(1);
    await expectEqualStores(instance);
  } finally {
    await instance.stop();
    await site.close();
    await rm(home, { recursive: true, force: true });
  }
});

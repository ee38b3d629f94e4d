import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createAnswerCache } from "../../../../shared/knowledge/search/answer-cache.ts";
import { decodeAnswer, encodeAnswer } from "../../../../shared/knowledge/search/kept-answer.ts";
import { answerSearch } from "../../../../shared/knowledge/search/search.ts";
import type { SearchRequest } from "../../../../shared/knowledge/search/search-request.ts";
import { forgetSearchChanges, readSearchVersion } from "../../../../shared/knowledge/search/search-version.ts";
import { createObjectStore } from "../../../../shared/platform/aws/objects.ts";
import { createSharedCache } from "../../../../shared/platform/aws/shared-cache.ts";
import { createStateTable } from "../../../../shared/platform/aws/state-table.ts";
import { systemClock } from "../../../../shared/platform/clock.ts";
import type { Sql } from "../../../../shared/platform/database/database.ts";
import { RetryableError } from "../../../../shared/platform/errors.ts";
import { uuidv7 } from "../../../../shared/platform/ids.ts";
import { type TestAws, testAwsWithoutSqs } from "../../../services/aws.ts";
import { testDatabase } from "../../../services/index.ts";
import { addPages, constantEmbedder, listedVectors } from "./corpus.ts";

const GENERATIONS = [uuidv7(), uuidv7()] as const;
const pages = (version: string) =>
  [0, 1, 2].map((number) => ({ url: `https://site.example/${number}`, title: version, chunks: [`tide ${version}`] }));

let sql: Sql;
let aws: TestAws;
let ids: string[];
let kind: string;
beforeAll(async () => {
  aws = await testAwsWithoutSqs();
  return () => aws.close();
});
beforeEach(async () => {
  kind = uuidv7();
  ({ sql } = await testDatabase({ poolSize: 4 }));
  ids = [
    ...(await addPages(sql, pages("ebb"), { generationId: GENERATIONS[0] })),
    ...(await addPages(sql, pages("flood"), { generationId: GENERATIONS[1], active: false })),
  ];
});

interface Setup {
  ttlS?: number;
  embed?: () => Promise<void>;
  /** Asked in turn: where there are two, they share what they keep. */
  containers?: 1 | 2;
}

function sharedAnswers() {
  const state = createStateTable(aws.dynamo, aws.stateTable);
  const log = { warn: (message: string) => expect.fail(message) };
  const store = { state, objects: createObjectStore(aws.s3, aws.bucket), clock: systemClock, log };
  const codec = { encode: encodeAnswer, decode: decodeAnswer };
  return createSharedCache(store, { kind: `answers-${kind}`, ttlS: 60, waitMs: 20_000, callMs: 20_000, ...codec });
}

function setup({ ttlS = 60, embed = async () => {}, containers = 1 }: Setup = {}) {
  const asked: string[] = [];
  const embedder = {
    ...constantEmbedder,
    async embedQuery(text: string) {
      asked.push(text);
      await embed();
      return Float32Array.of(1, 0);
    },
  };
  const side = { embedder, vectors: listedVectors(() => ids) };
  const dependencies = { sql, vectorSide: async () => side };
  const caches = Array.from({ length: containers }, () =>
    createAnswerCache(ttlS, containers === 1 ? null : sharedAnswers()),
  );
  const ask = async (request: Partial<SearchRequest> = {}) => {
    const [cache, ...others] = caches;
    if (cache === undefined) throw new Error("No container");
    caches.splice(0, caches.length, ...others, cache);
    const { answer, cached } = await cache.search(dependencies, {
      query: "tide",
      mode: "hybrid",
      limit: 10,
      ...request,
    });
    return { cached, titles: answer.results.map(({ title }) => title), missing: answer.missing.length };
  };
  return { asked, ask, dependencies };
}

/** Not awaited by searches: on a connection of its own. */
const swap = (from: number, to: number) =>
  sql.begin(async (tx) => {
    await tx`update documents set generation_active = false where generation_id = ${GENERATIONS[from] ?? ""}`;
    await tx`update documents set generation_active = true where generation_id = ${GENERATIONS[to] ?? ""}`;
  });

test("the same question is answered from the cache, another one is not", async () => {
  const { ask, asked } = setup();
  const first = await ask();
  expect(first).toEqual({ cached: false, titles: ["ebb", "ebb", "ebb"], missing: 0 });
  expect(await ask()).toEqual({ ...first, cached: true });
  const filter = { domains: ["a.example", "site.example"] };
  expect((await ask({ filter })).cached).toBe(false);
  expect((await ask({ filter: { domains: ["site.example", "a.example"] } })).cached).toBe(true);
  const others: Partial<SearchRequest>[] = [
    { limit: 2 },
    { mode: "keyword" },
    { minScore: 0.5 },
    { query: "Tide" },
    { expand: true },
    { fusion: { method: "linear", weights: { vector: 1, keyword: 0 } } },
    { fusion: { method: "linear", weights: { vector: 0, keyword: 1 } } },
    { filter: { dateFrom: "2020-01-01T00:00:00Z" } },
    { filter: { dateTo: "2040-01-01T00:00:00Z" } },
    { limit: 2 },
  ];
  const cached = [];
  for (const other of others) cached.push((await ask(other)).cached);
  expect(cached).toEqual([...Array.from({ length: 9 }, () => false), true]);
  expect(asked).toHaveLength(10);
});

test("nothing is kept where that is switched off", async () => {
  const { ask } = setup({ ttlS: 0 });
  expect([(await ask()).cached, (await ask()).cached]).toEqual([false, false]);
});

describe.each([1, 2] as const)("of %i containers", (containers) => {
  test.each([
    ["a swap of generations", () => swap(0, 1)],
    ["a delete", () => sql`delete from documents where url = 'https://site.example/1'`],
    ["a mark of deletion", () => sql`update documents set deleted_at = now() where url = 'https://site.example/1'`],
    [
      "a move into a collection",
      async () => {
        const id = uuidv7();
        await sql`insert into collections (id, name) values (${id}, 'c')`;
        await sql`update documents set collection_id = ${id} where url = 'https://site.example/1'`;
      },
    ],
    [
      "a document that comes visible",
      () => addPages(sql, [{ url: "https://new.example/", title: "new", chunks: ["tide"] }]),
    ],
    [
      "a tag of a visible document",
      async () => {
        const id = uuidv7();
        await sql`insert into tags (id, name) values (${id}, 't')`;
        await sql`insert into document_tags select id, ${id} from documents where generation_active limit 1`;
      },
    ],
  ])("no answer outlives %s", async (_name, change) => {
    const { ask, dependencies } = setup({ containers });
    await ask();
    expect((await ask()).cached).toBe(true);
    await change();
    const after = await ask();
    const fresh = await answerSearch(dependencies, { query: "tide", mode: "hybrid", limit: 10 });
    expect(after).toEqual({ cached: false, titles: fresh.results.map(({ title }) => title), missing: 0 });
  });

  test("an answer that was read before a change is not given after it, though it comes later", async () => {
    const [reading, change] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const { ask } = setup({
      containers,
      async embed() {
        reading.resolve();
        await change.promise;
      },
    });
    const early = ask();
    await reading.promise;
    await swap(0, 1);
    const late = ask();
    change.resolve();
    expect((await early).titles).toEqual(["ebb", "ebb", "ebb"]);
    expect(await late).toMatchObject({ cached: false, titles: ["flood", "flood", "flood"] });
    expect(await ask()).toMatchObject({ cached: true, titles: ["flood", "flood", "flood"] });
  });

  test("searches and swaps at random never see what was hidden before they asked", async () => {
    const { ask } = setup({ containers });
    let active = 0;
    let stop = false;
    const swapping = (async () => {
      while (!stop) {
        await swap(active, 1 - active);
        active = 1 - active;
      }
    })();
    let cached = 0;
    const searching = async () => {
      for (let round = 0; round < 60; round++) {
        const answer = await ask();
        expect(new Set(answer.titles).size).toBe(1);
        expect(answer.titles).toHaveLength(3);
        if (answer.cached) cached++;
      }
    };
    await Promise.all([searching(), searching(), searching()]).finally(() => {
      stop = true;
    });
    await swapping;
    const shown = active === 0 ? "ebb" : "flood";
    expect((await ask()).titles).toEqual([shown, shown, shown]);
    expect(cached).toBeGreaterThan(0);
  });
});

test("pages that are only being crawled leave the answers alone", async () => {
  const { ask } = setup();
  await ask();
  await addPages(sql, [{ url: "https://new.example/", chunks: ["tide"] }], { active: false });
  const id = uuidv7();
  await sql`insert into tags (id, name) values (${id}, 't')`;
  await sql`insert into document_tags select id, ${id} from documents where not generation_active`;
  expect((await ask()).cached).toBe(true);
});

test("changes that commit in another order than they began in are all seen", async () => {
  const { ask } = setup();
  const [changed, commit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const slow = sql.begin(async (tx) => {
    await tx`delete from documents where url = 'https://site.example/1'`;
    changed.resolve();
    await commit.promise;
  });
  await changed.promise;
  await sql`update documents set deleted_at = now() where url = 'https://site.example/2'`;
  expect((await ask()).titles).toEqual(["ebb", "ebb"]);
  expect((await ask()).cached).toBe(true);
  commit.resolve();
  await slow;
  expect(await ask()).toMatchObject({ cached: false, titles: ["ebb"] });
});

test("those who ask the same at once wait for one answer, and for the fault of one", async () => {
  const gate = Promise.withResolvers<void>();
  const { ask, asked } = setup({ embed: () => gate.promise });
  const all = Array.from({ length: 20 }, () => ask());
  await expect.poll(() => asked.length).toBe(1);
  gate.resolve();
  const answers = await Promise.all(all);
  expect(answers.filter(({ cached }) => !cached)).toHaveLength(1);
  expect(asked).toHaveLength(1);
});

test("an answer without one of its sides is not kept", async () => {
  let down = true;
  const { ask } = setup({
    async embed() {
      if (down) throw new RetryableError("down", { code: "EMBEDDER_UNAVAILABLE" });
    },
  });
  expect(await ask()).toMatchObject({ cached: false, missing: 1 });
  down = false;
  expect(await ask()).toMatchObject({ cached: false, missing: 0 });
});

test("what one container has answered another one gives, word by word", async () => {
  const { ask } = setup({ containers: 2 });
  const facets: SearchRequest["facets"] = ["domain", "month"];
  const request = { limit: 2, facets, expand: true, collapse: true };
  const first = await ask(request);
  expect(await ask(request)).toEqual({ ...first, cached: true });
  const { dependencies } = setup();
  const asked: SearchRequest = { query: "tide", mode: "hybrid", limit: 2, facets, expand: true, collapse: true };
  const answer = await answerSearch(dependencies, asked);
  expect(decodeAnswer(encodeAnswer(answer))).toEqual(answer);
});

test("old changes are forgotten, which costs no more than answers", async () => {
  await sql`insert into search_changes (at) select now() from generate_series(1, 300)`;
  const before = await readSearchVersion(sql);
  expect(await forgetSearchChanges(sql)).toBeGreaterThan(90);
  expect(await readSearchVersion(sql)).not.toBe(before);
  expect(await forgetSearchChanges(sql)).toBe(0);
});

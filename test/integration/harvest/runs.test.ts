/** Runs over a real database; the other side of the queue answers as each test says. */
import { describe, expect, it } from "vitest";
import type { LoadedConfig } from "../../../shared/harvest/config.ts";
import type { ProviderRun } from "../../../shared/harvest/provider-run.ts";
import { type HarvestDependencies, harvest } from "../../../shared/harvest/run.ts";
import { insertRun, keepTemplate, type NewRun } from "../../../shared/harvest/store.ts";
import { type Clock, systemClock } from "../../../shared/platform/clock.ts";
import type { Sql } from "../../../shared/platform/database/database.ts";
import { ApiError } from "../../../shared/platform/errors.ts";
import { createLogger } from "../../../shared/platform/observability/log.ts";
import { testDatabase } from "../../services/index.ts";

const KEY = { originalQuery: "what is new", promptHash: "0".repeat(64), model: "openai/m" };
const TIMEOUT = new ApiError(504, "No answer came", { code: "REMOTE_TIMEOUT" });

const found = (provider: string, ...urls: string[]): ProviderRun => ({
  provider,
  queryUsed: "a",
  urls,
  latencyMs: 5,
  requests: 1,
  skipped: 0,
  error: null,
});

const loaded = (cascade_order: LoadedConfig["config"]["search"]["cascade_order"]): LoadedConfig => ({
  config: {
    search: {
      provider: "auto",
      cascade_order,
      default_options: { maxResults: 10 },
      deadline_ms: 200,
      provider_timeout_ms: 3000,
      providers: {},
    },
    llm: { provider: "openai", model: "m", temperature: 0, max_tokens: 512, timeout_ms: 5000, prompt_file: "p" },
  },
  prompt: "Rewrite.",
  promptHash: KEY.promptHash,
});

function dependencies(sql: Sql, changes: Partial<HarvestDependencies>): HarvestDependencies {
  return {
    sql,
    clock: systemClock,
    log: createLogger({}, "error", () => undefined),
    harvestConfig: async () => loaded(["serper"]),
    searchOwn: async () => ({ queryUsed: "a", urls: [], error: null }),
    remote: { ask: async () => ({ text: '{"keywords":["a"]}' }) },
    ...changes,
  };
}

/** @param search what the remote call of the providers ends with */
const answering = (search: () => Promise<unknown>): Pick<HarvestDependencies, "remote"> => ({
  remote: {
    ask: async (_queue, request) =>
      (request as { kind: string }).kind === "rewrite" ? { text: '{"keywords":["a"]}' } : await search(),
  },
});

const ask = (query = "what is new") => ({ query, options: {}, apiKeyId: null });

async function counted(sql: Sql) {
  const [row] = await sql`
    select (select count(*)::int from search_runs) as runs, (select count(*)::int from search_results_raw) as raw,
      (select count(*)::int from search_results_processed) as processed`;
  return row;
}

it("twenty who keep a template for one question at once all get the same one, and it is the stored one", async () => {
  const { sql } = await testDatabase({ poolSize: 20 });
  const kept = await Promise.all(
    Array.from({ length: 20 }, (_, index) => {
      const text = `wording ${index}`;
      return keepTemplate(sql, KEY, { query: { keywords: [text], boolean: "AND", filters: {} }, text }, false);
    }),
  );
  expect(new Set(kept.map(({ text }) => text)).size).toBe(1);
  const stored = await sql`select rewritten_template as text, query from queries`;
  expect(stored).toEqual([{ text: kept[0]?.text, query: kept[0]?.query }]);
  expect(kept[0]?.query.keywords).toEqual([kept[0]?.text]);
});

it("a run is stored as a whole or not at all", async () => {
  const { sql } = await testDatabase();
  const run: NewRun = {
    query: "a",
    rewrittenTemplate: "a",
    config: {},
    providersUsed: ["serper"],
    apiKeyId: null,
    raw: [{ provider: "serper", url: "https://a.example/", rank: 1, meta: {} }],
    processed: [{ url: "https://a.example/", providers: ["serper"], confidence: 2, dedupeHash: "x" }],
  };
  await expect(insertRun(sql, run)).rejects.toThrow(/confidence|check constraint/);
  expect(await counted(sql)).toEqual({ runs: 0, raw: 0, processed: 0 });
});

it("a run keeps what it found, though a provider gives a reason that PostgreSQL does not store", async () => {
  const { sql } = await testDatabase();
  const id = await insertRun(sql, {
    query: "a",
    rewrittenTemplate: "a",
    config: { reasons: ["a\u0000", "half an emoji \ud83d"] },
    providersUsed: ["serper"],
    apiKeyId: null,
    raw: [{ provider: "serper", url: "https://a.example/", rank: 1, meta: {} }],
    processed: [{ url: "https://a.example/", providers: ["serper"], confidence: 1, dedupeHash: "x" }],
  });
  const [row] = await sql<{ config: unknown }[]>`select config from search_runs where id = ${id}`;
  expect(row?.config).toEqual({ reasons: ["a\ufffd", "half an emoji \ufffd"] });
  expect(await counted(sql)).toEqual({ runs: 1, raw: 1, processed: 1 });
});

it("a stored run gets no further rows, and no table of snapshots is emptied", async () => {
  const { sql } = await testDatabase();
  const { runId } = await harvest(
    dependencies(
      sql,
      answering(async () => ({ runs: [found("serper", "https://a.example/")] })),
    ),
    ask(),
  );
  await expect(
    sql`insert into search_results_raw (run_id, provider, url) values (${runId}, 'serper', 'https://late.example/')`,
  ).rejects.toThrow(/snapshots/);
  await expect(sql`
    insert into search_results_processed (run_id, url, providers, confidence, dedupe_hash)
    values (${runId}, 'https://late.example/', '{serper}', 1, 'x')`).rejects.toThrow(/snapshots/);
  for (const table of ["search_results_raw", "search_results_processed", "search_runs"]) {
    await expect(sql`truncate ${sql(table)} cascade`, table).rejects.toThrow(/snapshots/);
  }
  expect(await counted(sql)).toEqual({ runs: 1, raw: 1, processed: 1 });
});

it("remote calls name the variables that the reference names, where the configuration names none", async () => {
  const { sql } = await testDatabase();
  const asked: unknown[] = [];
  const { remote } = answering(async () => ({ runs: [found("serper")] }));
  const ask_ = async (queue: string, request: unknown, timeoutMs: number) => {
    asked.push(request);
    return await remote.ask(queue, request, timeoutMs);
  };
  await harvest(dependencies(sql, { remote: { ask: ask_ } }), ask());
  expect(asked).toMatchObject([
    { kind: "rewrite", llm: { apiKeyEnv: "OPENAI_API_KEY" } },
    { kind: "search", providers: [{ name: "serper", apiKeyEnv: "SERPER_KEY" }] },
  ]);
});

describe("providers over the queue", () => {
  it("that give no answer at all do not take this system's own index along", async () => {
    const { sql } = await testDatabase();
    const { runs, merged } = await harvest(
      dependencies(sql, {
        ...answering(() => Promise.reject(TIMEOUT)),
        harvestConfig: async () => loaded(["serper", "strandline"]),
        searchOwn: async () => ({ queryUsed: "a", urls: ["https://own.example/"], error: null }),
      }),
      ask(),
    );
    expect(runs.map(({ provider, error }) => [provider, error])).toEqual([
      ["serper", "timeout"],
      ["strandline", null],
    ]);
    expect(merged.map(({ url }) => url)).toEqual(["https://own.example/"]);
    expect(await counted(sql)).toEqual({ runs: 1, raw: 1, processed: 1 });
  });

  it("whose answer makes no sense are failures", async () => {
    const { sql } = await testDatabase();
    const run = harvest(
      dependencies(
        sql,
        answering(async () => ({ runs: [{ provider: 7 }] })),
      ),
      ask(),
    );
    await expect(run).rejects.toMatchObject({ status: 502, message: "providers failed" });
    expect(await counted(sql)).toEqual({ runs: 0, raw: 0, processed: 0 });
  });

  it("that all found nothing are a success with an empty list", async () => {
    const { sql } = await testDatabase();
    const { merged } = await harvest(
      dependencies(
        sql,
        answering(async () => ({ runs: [found("serper")] })),
      ),
      ask(),
    );
    expect(merged).toEqual([]);
    expect(await counted(sql)).toEqual({ runs: 1, raw: 0, processed: 0 });
  });
});

it("the own index is waited for no longer than the deadline", async () => {
  const { sql } = await testDatabase();
  const slept: number[] = [];
  const clock: Clock = {
    now: systemClock.now,
    async sleep(ms, signal) {
      slept.push(ms);
      await systemClock.sleep(ms, signal);
    },
  };
  const { runs } = await harvest(
    dependencies(sql, {
      clock,
      ...answering(async () => ({ runs: [found("serper", "https://a.example/")] })),
      harvestConfig: async () => loaded(["serper", "strandline"]),
      searchOwn: () => new Promise<never>(() => undefined),
    }),
    ask(),
  );
  expect(runs.map(({ provider, error }) => [provider, error])).toEqual([
    ["serper", null],
    ["strandline", "timeout"],
  ]);
  expect(slept).toEqual([200]);
});

it("the language and the number of results that the caller wants are those that the providers are asked for", async () => {
  const { sql } = await testDatabase();
  const asked: unknown[] = [];
  const remote: HarvestDependencies["remote"] = {
    ask: async (_queue, request) => {
      if ((request as { kind: string }).kind === "rewrite") {
        return { text: '{"keywords":["a"],"filters":{"lang":"fr","max_results":20}}' };
      }
      asked.push(request);
      return { runs: [found("serper", "https://a.example/")] };
    },
  };
  await harvest(dependencies(sql, { remote }), ask());
  await harvest(dependencies(sql, { remote }), { ...ask(), options: { lang: "de", maxResults: 3 } });
  expect(asked).toMatchObject([
    { query: { filters: { lang: "fr" } }, want: 20 },
    { query: { filters: { lang: "de" } }, want: 3 },
  ]);
});

it("a model that gives no sign is told of with the time that it had", async () => {
  const { sql } = await testDatabase();
  const run = harvest(dependencies(sql, { remote: { ask: () => Promise.reject(TIMEOUT) } }), ask());
  await expect(run).rejects.toMatchObject({
    status: 502,
    message: "LLM call failed",
    details: { text: "timeout after 5s" },
  });
});

it("the limit of a query is that of the one that is asked, not of the template with its long placeholders", async () => {
  const { sql } = await testDatabase();
  const rewriting = (length: number) => ({
    remote: {
      ask: async (_queue: string, request: unknown) =>
        (request as { kind: string }).kind === "rewrite"
          ? {
              text: JSON.stringify({
                keywords: ["x".repeat(150), "y".repeat(150), "z".repeat(length - 337)],
                filters: { date_after: "{LAST_MONTH_START}", date_before: "{LAST_MONTH_END}" },
              }),
            }
          : { runs: [found("serper", "https://a.example/")] },
    },
  });
  const { template } = await harvest(dependencies(sql, rewriting(512)), ask());
  expect(template.text).toMatch(/ after:\{LAST_MONTH_START\} before:\{LAST_MONTH_END\}$/);
  expect(template.text.length).toBeGreaterThan(512);
  const beyond = harvest(dependencies(sql, rewriting(513)), ask("another"));
  await expect(beyond).rejects.toMatchObject({
    status: 400,
    details: { text: expect.stringMatching(/has 513 characters; 512 are the most/) },
  });
});

/** The harvester under attack: many at once, damaged rows, faults in between, and who may do what. */
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { chatCompletion, RESULTS } from "../services/provider-doubles.ts";
import { KEYS, startHarvest } from "./harvest-setup.ts";

const harvest = await startHarvest();
const { instance, llm, doubles, sql, configure, call, run, question, asked, handlerLog } = harvest;

beforeEach(harvest.reset);
afterAll(harvest.stop);

const rows = async (query: string) => {
  const [counts] = await sql<{ queries: number; runs: number; raw: number; processed: number }[]>`
    select (select count(*)::int from queries where original_query = ${query}) as queries,
      count(distinct r.id)::int as runs, count(distinct raw.id)::int as raw, count(distinct p.id)::int as processed
    from search_runs r left join search_results_raw raw on raw.run_id = r.id
      left join search_results_processed p on p.run_id = r.id
    where r.query = ${query}`;
  return counts;
};

/** Starts as many containers as so many runs at once need: that alone takes longer than a model may. */
const warm = async (runs: number): Promise<void> => {
  const allStored = async () => {
    const all = await Promise.all(Array.from({ length: runs }, () => run("warm")));
    return all.every(({ status }) => status === 201);
  };
  await expect.poll(allStored).toBe(true);
};

describe("a question", () => {
  it("that many ask at once goes by one template, whatever the model wrote for each", async () => {
    await warm(6);
    const query = question();
    let answers = 0;
    llm.answer = () => ({ ...chatCompletion(`{"keywords":["wording ${++answers}"]}`), delayMs: 300 });
    const all = await Promise.all(Array.from({ length: 6 }, () => run(query)));
    expect(all.map(({ status }) => status)).toEqual(Array(6).fill(201));
    expect(new Set(all.map(({ body }) => body.rewritten_template)).size).toBe(1);
    expect(new Set(all.map(({ body }) => body.final_queries.serper)).size).toBe(1);
    expect(new Set(all.map(({ body }) => body.run_id)).size).toBe(6);
    expect(await rows(query)).toEqual({ queries: 1, runs: 6, raw: 36, processed: 24 });
  });

  it.each([
    ["of another schema", '{"words":["a"]}'],
    ["with a placeholder that is none", '{"keywords":["a"],"filters":{"date_after":"{SOON}"}}'],
    ["of no object", "[]"],
  ])("whose stored template is %s is rewritten, once", async (_what, damaged) => {
    const query = question();
    await run(query);
    await sql`update queries set query = ${damaged}::text::jsonb, rewritten_template = 'x' where original_query = ${query}`;
    const repaired = await run(query);
    expect(repaired).toMatchObject({ status: 201, body: { meta: { template_cached: false } } });
    expect((await run(query)).body).toMatchObject({
      rewritten_template: repaired.body.rewritten_template,
      meta: { template_cached: true },
    });
    expect(llm.asked).toHaveLength(2);
  });

  it("that was refused is not kept", async () => {
    const query = question();
    llm.answer = () =>
      chatCompletion('{"keywords":["a"],"filters":{"date_after":"{TODAY}","date_before":"{YESTERDAY}"}}');
    expect(await run(query)).toMatchObject({ status: 400, body: { error: "invalid schema" } });
    llm.answer = () => chatCompletion('{"keywords":["a"]}');
    expect((await run(query)).status).toBe(201);
  });
});

describe("the model's answer", () => {
  it.each([
    ["NUL", '{"keywords":["a\\u0000b"]}', "keywords.0: holds control characters or broken Unicode"],
    ["half a character", '{"keywords":["\\ud800"]}', "keywords.0: holds control characters or broken Unicode"],
    ["lists without end", "[".repeat(9000) + "]".repeat(9000), "the answer is nested more than 8 deep"],
    ["a field twice", '{"keywords":["a"],"keywords":["b"]}', "field keywords stands twice"],
    ["a megabyte", JSON.stringify({ keywords: ["a".repeat(1e6)] }), "the answer is longer than 32768 characters"],
  ])("with %s is 400, not a fault of ours", async (_what, text, details) => {
    llm.answer = () => chatCompletion(text);
    expect(await run()).toEqual({ status: 400, body: { error: "invalid schema", details } });
    expect(asked()).toBe(0);
  });

  it("whose refusal quotes the key and the question gives neither away", async () => {
    const query = question();
    const message = `Incorrect API key ${KEYS.MODEL_KEY} for "${query}"`;
    llm.answer = () => ({ status: 401, body: { error: { message } } });
    const { status, body } = await run(query);
    expect([status, body]).toEqual([502, { error: "LLM call failed", details: "auth: the provider answered 401" }]);
    const log = await handlerLog();
    for (const secret of [KEYS.MODEL_KEY, query]) expect(log).not.toContain(secret);
  });
});

describe("what providers return", () => {
  it("is stored and shown alike, whatever it holds", async () => {
    const odd = [
      "https://a.example/%00",
      "https://a.example/\0",
      "https://a.example/\ud800",
      "javascript:alert(1)",
      "https://a.example/'\"<>",
    ];
    doubles.serper.answer = () => RESULTS.serper(...odd, `https://a.example/${"x".repeat(100_000)}`);
    doubles.google.answer = () => RESULTS.google();
    doubles.brave.answer = () => RESULTS.brave();
    const query = question();
    const { status, body } = await run(query);
    expect(status).toBe(201);
    expect((await call("GET", `/search-runs/${body.run_id}`)).body.urls).toEqual(body.urls);
    expect(body.urls.map(({ url }: { url: string }) => url)).toEqual([
      "https://a.example/%00",
      "https://a.example/'\"<>",
    ]);
    expect(await rows(query)).toMatchObject({ raw: 3, processed: 2 });
  });

  it("of a hundred long URLs each is cut, not lost", async () => {
    await configure({ search: { cascade_order: ["serper", "google", "brave", "searxng"], deadline_ms: 10_000 } });
    const urls = (offset: number) =>
      Array.from({ length: 10 }, (_, index) => `https://a.example/${offset + index}/${"y".repeat(1900)}`);
    doubles.serper.answer = ({ body }) => RESULTS.serper(...urls(10 * body.page));
    doubles.searxng.answer = ({ url }) => RESULTS.searxng(...urls(10 * Number(url.searchParams.get("pageno"))));
    const { status, body } = await run(question(), { maxResults: 100 });
    expect(status).toBe(201);
    expect(body.meta.errors).toEqual({});
    expect(body.meta.counts.serper).toBeGreaterThan(30);
  });
});

it("a run whose model never answers stores nothing, and tells the client in time", async () => {
  const query = question();
  await configure({ model: { timeout_ms: 500 } });
  llm.answer = () => ({ ...chatCompletion('{"keywords":["a"]}'), delayMs: 60_000 });
  expect(await run(query)).toEqual({ status: 502, body: { error: "LLM call failed", details: "timeout after 0.5s" } });
  expect(await rows(query)).toEqual({ queries: 0, runs: 0, raw: 0, processed: 0 });
});

describe("snapshots", () => {
  it("do not change, do not go row by row, and go with their run", async () => {
    const { body } = await run();
    for (const table of ["search_results_raw", "search_results_processed"]) {
      await expect(sql`delete from ${sql(table)} where run_id = ${body.run_id}`, table).rejects.toThrow(/snapshots/);
    }
    await expect(sql`update search_runs set query = 'x' where id = ${body.run_id}`).rejects.toThrow(/snapshots/);
    await sql`update search_runs set api_key_id = null where id = ${body.run_id}`;
    await sql`delete from search_runs where id = ${body.run_id}`;
    const [left] = await sql`
      select count(*)::int as n from search_results_raw where run_id = ${body.run_id}`;
    expect(left).toEqual({ n: 0 });
  });

  it("are all that a crawl is made of: the processed table alone", async () => {
    doubles.serper.answer = () => RESULTS.serper("http://127.0.0.1:9/a?utm_source=x", "ftp://127.0.0.1/file");
    doubles.google.answer = () => RESULTS.google("http://127.0.0.1:9/a");
    doubles.brave.answer = () => RESULTS.brave();
    const { body } = await run();
    // raw rows go only where no trigger sees it
    await sql.begin(async (tx) => {
      await tx`set local session_replication_role = replica`;
      await tx`delete from search_results_raw where run_id = ${body.run_id}`;
    });
    const crawl = await call("POST", `/search-runs/${body.run_id}/crawl`, {});
    expect(crawl).toMatchObject({ status: 202, body: { submitted: 1, refused: [] } });
    const bodyless = await call("POST", `/search-runs/${body.run_id}/crawl`);
    expect(bodyless).toMatchObject({ status: 202, body: { submitted: 1, refused: [] } });
    const none = await call("POST", `/search-runs/${body.run_id}/crawl`, { min_confidence: 3 });
    expect(none).toEqual({
      status: 409,
      body: { error: "nothing to crawl", details: "the run has no URL of that kind" },
    });
  });
});

describe("who may do what", () => {
  it("a key that reads sees runs and makes none", async () => {
    const { body } = await run();
    const { key } = await instance.call<{ key: string }>("POST", "/api/v1/api-keys", {
      name: "reader",
      scopes: ["read"],
    });
    expect((await call("GET", `/search-runs/${body.run_id}`, undefined, key)).status).toBe(200);
    expect((await call("GET", "/search-runs", undefined, key)).status).toBe(200);
    for (const path of ["/search-runs", `/search-runs/${body.run_id}/crawl`]) {
      const refused = await call("POST", path, { query: "a" }, key);
      expect([refused.status, Object.keys(refused.body)]).toEqual([403, ["error", "details"]]);
    }
    expect(asked()).toBe(3);
  });

  it("a key has a number of requests a minute", async () => {
    const { key } = await instance.call<{ key: string }>("POST", "/api/v1/api-keys", {
      name: "slow",
      scopes: ["write"],
      rate_limit_rpm: 1,
    });
    const all = await Promise.all(Array.from({ length: 4 }, () => call("POST", "/search-runs", { query: "a" }, key)));
    const refused = all.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThan(0);
    expect(Object.keys(refused[0]?.body)).toEqual(["error", "details"]);
  });
});

describe("lists", () => {
  it.each([
    ["/search-runs?query=%00", /query|cannot be stored/],
    [`/search-runs?cursor=${Buffer.from("9999999999").toString("base64url")}`, /cursor/],
    ["/search-runs?from=2026-02-30", /from: neither a day \(2026-01-31\) nor a time with its zone/],
    ["/search-runs?from=2026-01-31T12:00:00", /from: neither a day/],
    // a plus sign of a query is a space
    ["/search-runs?to=2026-01-31T12:00:00+02:00", /to: neither a day.*%2B/],
    ["/search-runs?from=0000-01-01", /from: is before the year 1 or after 9999/],
    ["/search-runs?from=0001-01-01T00:00:00%2B05:00", /from: is before the year 1/],
    ["/search-runs?to=9999-12-31T23:59:59-12:00", /to: is before the year 1 or after 9999/],
    ["/search-runs?from=2026-01-02&to=2026-01-01", /from: is later than to/],
    ["/search-runs?limit=1e9", /limit/],
    ["/search-runs?quer=a", /quer/],
  ])("%s is 400 in the harvester's shape", async (path, details) => {
    const { status, body } = await call("GET", path);
    expect([status, Object.keys(body)]).toEqual([400, ["error", "details"]]);
    expect(body.details).toMatch(details);
  });

  it.each(["from=0001-01-01", "to=9999-12-31", "from=2026-01-01&to=2026-01-01", "to=2026-01-31T12:00:00%2B02:00"])(
    "may be asked for with %s",
    async (filter) => {
      expect((await call("GET", `/search-runs?${filter}`)).status).toBe(200);
    },
  );

  it("take a day as a whole, at both ends", async () => {
    const query = question();
    const { body } = await run(query);
    const { timestamp } = (await call("GET", `/search-runs/${body.run_id}`)).body;
    const day = timestamp.slice(0, 10);
    const { body: list } = await call("GET", `/search-runs?query=${encodeURIComponent(query)}&from=${day}&to=${day}`);
    expect(list.items.map(({ run_id }: { run_id: number }) => run_id)).toEqual([body.run_id]);
  });
});

it("many who ask for its health at once cost the database little, and need no key", async () => {
  // many containers start for them, and a probe may meet a worker that is only starting
  const asked = async () => {
    const all = await Promise.all(Array.from({ length: 10 }, () => fetch(`${instance.url}/healthz`)));
    return [...new Set(all.map(({ status }) => status))];
  };
  await expect.poll(asked).toEqual([200]);
});

it("no key stands in a row or in a log line", async () => {
  await run();
  doubles.serper.answer = () => ({ status: 500, body: KEYS.SERPER_KEY });
  doubles.google.answer = ({ url }) => ({ status: 400, body: { error: { message: url.href } } });
  await run();
  const stored = await sql<{ text: string }[]>`
    select to_jsonb(r)::text as text from search_runs r union all select to_jsonb(w)::text from search_results_raw w`;
  const all = `${JSON.stringify(stored)}${await handlerLog()}`;
  for (const key of Object.values(KEYS).filter((each) => each !== KEYS.GOOGLE_CSE_ID)) expect(all).not.toContain(key);
});

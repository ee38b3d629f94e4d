/** The acceptance criteria of the harvester, against doubles that speak the providers' formats. */
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { chatCompletion, RESULTS } from "../services/provider-doubles.ts";
import { startHarvest } from "./harvest-setup.ts";

const harvest = await startHarvest();
const { instance, llm, doubles, sql, configure, call, run, question, asked, handlerLog } = harvest;

beforeEach(harvest.reset);
afterAll(harvest.stop);

describe("a run", () => {
  it("answers 201 with the template, each provider's query, and the merged list", async () => {
    const { status, body } = await run();
    expect(status).toBe(201);
    const { timestamp } = (await call("GET", `/search-runs/${body.run_id}`)).body;
    const day = (ago: number) => new Date(Date.parse(timestamp) - ago * 86_400_000).toISOString().slice(0, 10);
    const text = `("AI regulation" OR "AI Act") site:.eu after:${day(7)} before:${day(0)}`;
    expect(body).toEqual({
      run_id: expect.any(Number),
      rewritten_template: '("AI regulation" OR "AI Act") site:.eu after:{LAST_WEEK_START} before:{LAST_WEEK_END}',
      final_queries: {
        serper: text,
        google: text,
        brave: `("AI regulation" OR "AI Act") site:.eu&freshness=${day(7)}to${day(0)}`,
      },
      providers_used: ["serper", "google", "brave"],
      urls: [
        { url: "https://all.example/page", providers: ["serper", "google", "brave"], confidence: 3 },
        { url: "https://serper.example/only", providers: ["serper"], confidence: 1 },
        { url: "https://google.example/only", providers: ["google"], confidence: 1 },
        { url: "https://brave.example/only", providers: ["brave"], confidence: 1 },
      ],
      meta: {
        counts: { serper: 2, google: 2, brave: 2 },
        total_unique: 4,
        latency_ms: { serper: expect.any(Number), google: expect.any(Number), brave: expect.any(Number) },
        errors: {},
        template_cached: false,
      },
    });
  });

  it("is one row, with a raw row for each URL returned and a processed row for each distinct one", async () => {
    const { body } = await run();
    const [counts] = await sql`
      select (select count(*)::int from search_runs where id = ${body.run_id}) as runs,
        (select count(*)::int from search_results_raw where run_id = ${body.run_id}) as raw,
        (select count(*)::int from search_results_processed where run_id = ${body.run_id}) as processed`;
    expect(counts).toEqual({ runs: 1, raw: 6, processed: 4 });
  });

  it("leaves snapshots that nothing changes", async () => {
    const { body } = await run();
    const change = (table: string) => sql`update ${sql(table)} set url = 'x' where run_id = ${body.run_id}`;
    await expect(change("search_results_raw")).rejects.toThrow(/snapshots/);
    await expect(change("search_results_processed")).rejects.toThrow(/snapshots/);
  });

  it("is shown and listed as it was stored", async () => {
    const query = question();
    const before = new Date().toISOString();
    const { body } = await run(query);
    const shown = await call("GET", `/search-runs/${body.run_id}`);
    expect(shown).toEqual({
      status: 200,
      body: {
        run_id: body.run_id,
        query,
        rewritten_template: body.rewritten_template,
        timestamp: expect.stringMatching(/Z$/),
        providers_used: ["serper", "google", "brave"],
        urls: body.urls,
      },
    });
    const list = (filter: string) => call("GET", `/search-runs?query=${encodeURIComponent(query)}${filter}`);
    expect((await list(`&from=${before}`)).body.items.map((each: { run_id: number }) => each.run_id)).toEqual([
      body.run_id,
    ]);
    expect((await list(`&to=${before}`)).body.items).toEqual([]);
  });

  it("asks the model as the provider documents it, at temperature 0, and with the key of the environment", async () => {
    const query = question();
    await run(query);
    expect(llm.asked).toHaveLength(1);
    expect(llm.asked[0]?.headers["authorization"]).toBe("Bearer model-secret");
    expect(llm.asked[0]?.body).toEqual({
      model: "test-model",
      temperature: 0,
      max_tokens: 512,
      response_format: { type: "json_object" },
      messages: [
        { role: "system", content: "Rewrite." },
        { role: "user", content: query },
      ],
    });
  });

  it("rewrites a question once, and again for another prompt or model; the days stay those of the run", async () => {
    const query = question();
    expect((await run(query)).body.meta.template_cached).toBe(false);
    expect((await run(query)).body.meta.template_cached).toBe(true);
    expect(llm.asked).toHaveLength(1);
    await configure({ prompt: "Rewrite better." });
    expect((await run(query)).body.meta.template_cached).toBe(false);
    await configure({ prompt: "Rewrite better.", model: { model: "other-model" } });
    expect((await run(query)).body.meta.template_cached).toBe(false);
    expect(llm.asked).toHaveLength(3);
  });

  it("lets the caller's options outweigh the model", async () => {
    llm.answer = () => chatCompletion('{"keywords":["a"],"filters":{"lang":"fr","max_results":1}}');
    const { body } = await run(question(), { lang: "de", maxResults: 20 });
    expect(body.meta.counts.serper).toBe(2);
    expect(doubles.google.asked[0]?.url.searchParams.get("lr")).toBe("lang_de");
  });

  it("asks one provider alone where the configuration says so", async () => {
    await configure({ search: { provider: "searxng" } });
    expect((await run()).body.providers_used).toEqual(["searxng"]);
    expect(doubles.serper.asked).toEqual([]);
  });

  it("searches this system's own index as a provider", async () => {
    // the first search loads the model of the embeddings
    await configure({ search: { cascade_order: ["serper", "strandline"], deadline_ms: 20_000 } });
    const { status, body } = await run();
    expect(status).toBe(201);
    expect(body.providers_used).toEqual(["serper", "strandline"]);
    expect(body.meta.counts).toEqual({ serper: 2, strandline: 0 });
  });

  it("takes spellings of a page together: tracking parameters, hosts beyond ASCII, default ports", async () => {
    doubles.serper.answer = () => RESULTS.serper("https://x.example/", "https://bücher.example/a?utm_source=serper");
    doubles.google.answer = () => RESULTS.google("https://xn--bcher-kva.example:443/a");
    doubles.brave.answer = () => RESULTS.brave();
    const { body } = await run();
    expect(body.urls).toEqual([
      { url: "https://xn--bcher-kva.example:443/a", providers: ["serper", "google"], confidence: 2 },
      { url: "https://x.example/", providers: ["serper"], confidence: 1 },
    ]);
  });
});

describe("the model's answer", () => {
  it.each([
    [
      "an unknown placeholder",
      '{"keywords":["a"],"filters":{"date_after":"{PAST_2_WEEKS}"}}',
      "unknown placeholder {PAST_2_WEEKS}",
    ],
    ["a code fence", '```json\n{"keywords":["a"]}\n```', "the answer is not JSON, and JSON alone"],
    ["an unknown field", '{"keywords":["a"],"note":"x"}', "unknown field note"],
    ["a stray brace", '{"keywords":["a}"]}', 'stray brace in "a}"'],
  ])("is refused with 400 for %s, and no provider is asked", async (_what, text, details) => {
    llm.answer = () => chatCompletion(text);
    const query = question();
    expect(await run(query)).toEqual({ status: 400, body: { error: "invalid schema", details } });
    expect(asked()).toBe(0);
    const [row] = await sql`select count(*)::int as runs from search_runs where query = ${query}`;
    expect(row).toEqual({ runs: 0 });
  });

  it.each<[string, Parameters<typeof chatCompletion> | { status: number }, RegExp]>([
    ["auth", { status: 401 }, /^auth/],
    ["quota", { status: 429 }, /^quota/],
    ["a fault of its own", { status: 500 }, /500/],
    ["an answer that was cut off", ['{"keywords":["a"]}', "length"], /cut off/],
  ])(
    "that does not come for %s is 502, without a second try and without the question going anywhere",
    async (_what, reply, details) => {
      llm.answer = () =>
        Array.isArray(reply) ? chatCompletion(...reply) : { ...reply, body: { error: { message: "no" } } };
      const { status, body } = await run();
      expect(status).toBe(502);
      expect(body).toEqual({ error: "LLM call failed", details: expect.stringMatching(details) });
      expect([llm.asked.length, asked()]).toEqual([1, 0]);
    },
  );

  it("that does not come in time is 502", async () => {
    await configure({ model: { timeout_ms: 300 } });
    llm.answer = () => ({ ...chatCompletion("{}"), delayMs: 60_000 });
    expect(await run()).toEqual({ status: 502, body: { error: "LLM call failed", details: "timeout after 0.3s" } });
  });
});

describe("providers that fail", () => {
  it("are told of in meta while another one answers", async () => {
    await configure({ search: { deadline_ms: 5_000 } });
    doubles.serper.answer = () => ({ status: 403, body: { message: "Unauthorized.", statusCode: 403 } });
    doubles.google.answer = () => ({ ...RESULTS.google("https://a.example/"), delayMs: 60_000 });
    const { status, body } = await run();
    expect(status).toBe(201);
    expect(body.providers_used).toEqual(["brave"]);
    expect(body.meta.errors).toEqual({ serper: "403", google: "timeout" });
    expect(body.meta.counts).toEqual({ brave: 2 });
  });

  it("all of them are 502 with the reason of each", async () => {
    await configure({ search: { deadline_ms: 5_000 } });
    doubles.serper.answer = () => ({ status: 403, body: { message: "Unauthorized." } });
    doubles.google.answer = () => ({ status: 429, body: { error: { code: 429, status: "RESOURCE_EXHAUSTED" } } });
    doubles.brave.answer = () => ({ delayMs: 60_000 });
    expect(await run()).toEqual({
      status: 502,
      body: { error: "providers failed", details: "serper:403; google:quota; brave:timeout" },
    });
  });

  it("are asked again after a 429 or a 5xx, as long as the deadline allows", async () => {
    const answers = [
      { status: 429, headers: { "retry-after": "0" } },
      { status: 503 },
      RESULTS.serper("https://a.example/"),
    ];
    doubles.serper.answer = () => answers.shift() ?? {};
    const { body } = await run();
    expect(body.meta.errors).toEqual({});
    expect(doubles.serper.asked).toHaveLength(3);
  });

  it("are not asked again where Retry-After lies beyond the deadline", async () => {
    doubles.serper.answer = () => ({ status: 429, headers: { "retry-after": "60" } });
    const { body } = await run();
    expect(body.meta.errors).toEqual({ serper: "429" });
    expect(doubles.serper.asked).toHaveLength(1);
  });

  it.each([
    ["HTML instead of JSON", "<!doctype html><h1>Blocked</h1>", "answered with HTML instead of JSON"],
    ["truncated JSON", '{"organic":[{"link":"https://a', "answered with broken JSON instead of JSON"],
    ["nothing", "", "answered with nothing instead of JSON"],
    ["another shape", { organic: [{ href: 1 }] }, "answered in an unknown shape"],
  ])("with %s", async (_what, body, error) => {
    doubles.serper.answer = () => ({ body });
    expect((await run()).body.meta.errors).toEqual({ serper: error });
  });

  it("for want of a key, whose name is told", async () => {
    await configure({
      search: {
        providers: { serper: { endpoint: doubles.serper.url, api_key_env: "NO_SUCH_KEY" } },
        cascade_order: ["serper"],
      },
    });
    expect((await run()).body).toEqual({ error: "providers failed", details: "serper:no key: set NO_SUCH_KEY" });
  });
});

describe("handing over", () => {
  it("makes a crawl job of the processed URLs, and tells which are refused", async () => {
    doubles.serper.answer = () =>
      RESULTS.serper("http://127.0.0.1:9/a", "http://10.0.0.1/private", "http://127.0.0.1:9/b");
    doubles.google.answer = () => RESULTS.google();
    doubles.brave.answer = () => RESULTS.brave();
    const { body } = await run();
    const crawl = await call("POST", `/search-runs/${body.run_id}/crawl`, { tags: ["harvest"] });
    expect(crawl.status).toBe(202);
    expect(crawl.body).toMatchObject({ run_id: body.run_id, submitted: 2 });
    expect(crawl.body.refused).toEqual([
      { url: "http://10.0.0.1/private", code: "URL_BLOCKED", reason: expect.any(String) },
    ]);
    const job = await call("GET", `/api/v1/crawl/${crawl.body.job_id}`);
    expect(job.body.settings.seeds.sort()).toEqual(["http://127.0.0.1:9/a", "http://127.0.0.1:9/b"]);
  });
});

describe("bad requests", () => {
  it.each<[string, string, unknown, number, RegExp]>([
    ["POST", "/search-runs", {}, 400, /query/],
    ["POST", "/search-runs", { query: "  " }, 400, /query/],
    ["POST", "/search-runs", { query: "x".repeat(2001) }, 400, /query/],
    ["POST", "/search-runs", { query: "a", options: { maxResults: 0 } }, 400, /options\.maxResults/],
    ["POST", "/search-runs", { query: "a", options: { limit: 1 } }, 400, /options\.limit/],
    ["GET", "/search-runs?from=yesterday", undefined, 400, /from/],
    ["GET", "/search-runs?cursor=%00", undefined, 400, /cursor/],
    ["GET", "/search-runs/0", undefined, 404, /./],
    ["GET", "/search-runs/999999999", undefined, 404, /no run/],
    ["GET", "/search-runs/99999999999999999999", undefined, 404, /./],
    ["POST", "/search-runs/999999999/crawl", {}, 404, /no run/],
  ])("%s %s is answered in the harvester's shape", async (method, path, body, status, details) => {
    const answer = await call(method, path, body);
    expect(answer.status).toBe(status);
    expect(Object.keys(answer.body)).toEqual(["error", "details"]);
    expect(answer.body.details).toMatch(details);
  });

  it("without a key are refused", async () => {
    const response = await fetch(`${instance.url}/search-runs`);
    expect(response.status).toBe(401);
  });

  it("meet a faulty configuration with a reason in the log, and none of it in the answer", async () => {
    await configure({ model: { api_key_env: "not a name" } });
    const { status, body } = await run();
    expect({ status, body }).toEqual({
      status: 503,
      body: {
        error: "the harvester cannot work",
        details: "its configuration is faulty: the log names the file and the field",
      },
    });
    await expect.poll(handlerLog).toMatch(/llm\.api_key_env: not the name of an environment variable/);
  });
});

it("says that it is well, and what is not", async () => {
  const health = await fetch(`${instance.url}/healthz`);
  expect(await health.json()).toMatchObject({ ok: true, database: { ok: true }, internet: { ok: true } });
});

it("logs neither questions nor keys", async () => {
  await run("my private question");
  await expect.poll(handlerLog).toContain("run stored");
  const log = await handlerLog();
  for (const secret of [
    "my private question",
    "serper-secret",
    "google-secret",
    "brave-secret",
    "model-secret",
    "what is new",
  ]) {
    expect(log).not.toContain(secret);
  }
});

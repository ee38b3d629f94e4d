import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { describe, expect, it, onTestFinished } from "vitest";
import { createUrlGuard } from "../../../shared/access/url-guard.ts";
import { answerHarvestRequest, type RequestTools } from "../../../shared/harvest/answer-request.ts";
import { mergeUrls } from "../../../shared/harvest/merge.ts";
import type { ProviderRun } from "../../../shared/harvest/provider-run.ts";
import type { SearchRequest } from "../../../shared/harvest/remote-request.ts";
import { systemClock } from "../../../shared/platform/clock.ts";
import { RetryableError } from "../../../shared/platform/errors.ts";
import { createLogger } from "../../../shared/platform/observability/log.ts";

type Respond = (response: ServerResponse, request: IncomingMessage, nth: number) => void;

interface Server {
  url: string;
  requests(): number;
}

async function server(respond: Respond): Promise<Server> {
  let requests = 0;
  const made = createServer((request, response) => {
    request.resume();
    respond(response, request, ++requests);
  });
  await new Promise<void>((listening) => made.listen(0, "127.0.0.1", listening));
  onTestFinished(() => {
    made.closeAllConnections();
    made.close();
  });
  return { url: `http://127.0.0.1:${(made.address() as AddressInfo).port}`, requests: () => requests };
}

const lines: string[] = [];

function tools(changes: Partial<RequestTools> = {}): RequestTools {
  const client = createUrlGuard({ allowHosts: ["127.0.0.1"] }).dispatcher();
  onTestFinished(() => client.destroy());
  lines.length = 0;
  const log = createLogger({}, "debug", (line) => lines.push(line));
  return { client, clock: systemClock, random: () => 0.5, log, key: async () => "key-1", ...changes };
}

type Provider = SearchRequest["providers"][number];
const provider = (name: Provider["name"], { url }: Pick<Server, "url">, changes: Partial<Provider> = {}): Provider => ({
  name,
  endpoint: url,
  apiKeyEnv: null,
  engineIdEnv: null,
  ...changes,
});

async function search(
  providers: Provider[],
  { want = 10, deadlineMs = 60_000, ...changes }: { want?: number; deadlineMs?: number } & Partial<RequestTools> = {},
): Promise<ProviderRun[]> {
  const request = {
    kind: "search",
    query: { keywords: ["a"], boolean: "AND", filters: {} },
    providers,
    want,
    deadline: Date.now() + deadlineMs,
    timeoutMs: 30_000,
  } satisfies SearchRequest;
  const { runs } = (await answerHarvestRequest(tools(changes), request, deadlineMs + 1500)) as { runs: ProviderRun[] };
  return runs;
}

async function serper(
  respond: Respond,
  options: Parameters<typeof search>[1] = {},
): Promise<Omit<ProviderRun, "requests"> & Server> {
  const double = await server(respond);
  const [run] = await search([provider("serper", double)], options);
  return { ...(run as ProviderRun), ...double };
}

const organic = (...urls: unknown[]) => JSON.stringify({ organic: urls.map((link) => ({ link })) });
const ONE = organic("https://a.example/");

describe("answers", () => {
  it.each([
    ["gzip", gzipSync],
    ["x-gzip", gzipSync],
    ["br", brotliCompressSync],
    ["deflate", deflateSync],
    ["identity", (text: string) => text],
  ])("in %s are read, though none was asked for", async (encoding, encode) => {
    const run = await serper((response) => response.setHeader("content-encoding", encoding).end(encode(ONE)));
    expect(run).toMatchObject({ urls: ["https://a.example/"], error: null });
  });

  it.each([
    ["that unpack to 64 MB", "gzip", gzipSync(Buffer.alloc(64 << 20)), "answer too large"],
    ["that are not what they are said to be", "gzip", ONE, "answered in a broken encoding"],
    ["in an encoding of their own", "zstd", ONE, "answered in an unknown encoding"],
  ])("%s are a failure", async (_what, encoding, body, error) => {
    expect((await serper((response) => response.setHeader("content-encoding", encoding).end(body))).error).toBe(error);
  });

  it("that begin with a byte order mark are read", async () => {
    expect((await serper((response) => response.end(`\ufeff${ONE}`))).urls).toEqual(["https://a.example/"]);
  });

  it("of 5 MB are a failure", async () => {
    expect((await serper((response) => response.end(Buffer.alloc(5 << 20, " ")))).error).toBe("answer too large");
  });

  it("that redirect are not followed, and the key goes nowhere", async () => {
    const elsewhere = await server((response) => response.end(ONE));
    const run = await serper((response) => response.writeHead(302, { location: elsewhere.url }).end());
    expect(run.error).toBe("302 redirect: name the final address as endpoint");
    expect(elsewhere.requests()).toBe(0);
  });

  it("that break off are a failure, and nothing is asked twice", async () => {
    const run = await serper((response) => {
      response.writeHead(200, { "content-length": 1000 });
      response.write('{"organic":[');
      setImmediate(() => response.destroy());
    });
    expect(run.error).toBe("connection lost");
    expect(run.requests()).toBe(1);
  });

  it.each<[Provider["name"], unknown, string]>([
    ["serper", { message: "Unauthorized." }, "answered in an unknown shape"],
    ["serper", {}, "answered in an unknown shape"],
    ["google", { error: { code: 429, message: "Quota" } }, "answered in an unknown shape"],
    ["google", { items: null }, "answered in an unknown shape"],
    ["google", { kind: "customsearch#error", items: [{ link: "https://a.example/" }] }, "answered in an unknown shape"],
    ["brave", { type: "ErrorResponse", error: { code: "RATE_LIMITED" } }, "answered in an unknown shape"],
    ["brave", { web: {} }, "answered in an unknown shape"],
    ["brave", {}, "answered in an unknown shape"],
    ["searxng", { error: "no" }, "answered in an unknown shape"],
    [
      "searxng",
      {
        results: [],
        unresponsive_engines: [
          ["google", "CAPTCHA"],
          ["bing", "timeout"],
        ],
      },
      "no engine answered: google (CAPTCHA), bing (timeout)",
    ],
  ])("of %s that tell of a fault with status 200 are no empty success: %j", async (name, body, error) => {
    const double = await server((response) => response.end(JSON.stringify(body)));
    const [run] = await search([provider(name, double)]);
    expect(run).toMatchObject({ urls: [], error });
  });

  it.each<[Provider["name"], unknown]>([
    ["serper", { organic: [] }],
    ["google", { kind: "customsearch#search", searchInformation: { totalResults: "0" } }],
    ["brave", { type: "search", query: { original: "a" } }],
    ["searxng", { results: [], unresponsive_engines: [] }],
  ])("of %s without a result are a success", async (name, body) => {
    const double = await server((response) => response.end(JSON.stringify(body)));
    const [run] = await search([provider(name, double)]);
    expect(run).toMatchObject({ urls: [], error: null });
  });

  it.each<[Provider["name"], unknown]>([
    ["google", { items: [{ link: "https://a.example/" }] }],
    ["brave", { web: { results: [{ url: "https://a.example/" }] } }],
  ])("of %s that name their kind nowhere, and have results, are read", async (name, body) => {
    const double = await server((response) => response.end(JSON.stringify(body)));
    const [run] = await search([provider(name, double)]);
    expect(run).toMatchObject({ urls: ["https://a.example/"], error: null });
  });

  it.each<[Provider["name"], number, unknown, string]>([
    ["brave", 422, { type: "ErrorResponse", error: { code: "SUBSCRIPTION_TOKEN_INVALID" } }, "422 auth"],
    ["brave", 402, {}, "quota"],
    ["google", 403, { error: { errors: [{ reason: "dailyLimitExceeded" }] } }, "quota"],
    ["google", 400, { error: { errors: [{ reason: "keyInvalid" }] } }, "400 auth"],
    ["google", 400, { error: { status: "INVALID_ARGUMENT", details: [{ reason: "API_KEY_INVALID" }] } }, "400 auth"],
    ["google", 403, { error: { code: 403, details: [{ reason: "RATE_LIMIT_EXCEEDED" }] } }, "quota"],
    ["google", 403, { error: { code: 403, errors: null, details: null } }, "403"],
    ["serper", 403, { message: "Unauthorized." }, "403"],
    ["searxng", 403, "<html>", "403 its settings allow no JSON"],
  ])("of %s with status %i say why", async (name, status, body, error) => {
    const double = await server((response) => response.writeHead(status).end(JSON.stringify(body)));
    const [run] = await search([provider(name, double)]);
    expect([run?.error, double.requests()]).toEqual([error, 1]);
  });
});

describe("results", () => {
  it("that no crawl takes and no database stores are left out and counted", async () => {
    const long = `https://a.example/${"x".repeat(100_000)}`;
    const run = await serper((response) =>
      response.end(organic(long, "https://a.example/\0", "https://a.example/\ud800", 7, null, "https://a.example/1")),
    );
    expect(run).toMatchObject({ urls: ["https://a.example/1"], skipped: 3, error: null });
  });

  it("10,000 at once are as many as were wanted", async () => {
    const all = Array.from({ length: 10_000 }, (_, index) => `https://a.example/${index}`);
    const run = await serper((response) => response.end(organic(...all)), { want: 100 });
    expect(run.urls).toEqual(all.slice(0, 100));
  });

  it("of all providers together fit into one answer, the best of each first", async () => {
    const long = (nth: number) => `https://a.example/${nth}/${"ü".repeat(1900)}`;
    const urls = Array.from({ length: 99 }, (_, index) => long(index));
    const answers = {
      serper: organic(...urls),
      google: JSON.stringify({ kind: "customsearch#search", items: urls.map((link) => ({ link })) }),
      brave: JSON.stringify({ type: "search", web: { results: urls.map((url) => ({ url })) } }),
      searxng: JSON.stringify({ results: urls.map((url) => ({ url })) }),
    };
    const names = ["serper", "google", "brave", "searxng"] as const;
    const doubles = await Promise.all(names.map((name) => server((response) => response.end(answers[name]))));
    const providers = names.map((name, index) => provider(name, doubles[index] as Server));
    const runs = await search(providers, { want: 99 });
    expect(Buffer.byteLength(JSON.stringify({ value: { runs } }))).toBeLessThan(390_000);
    for (const run of runs) {
      expect(run.urls).toEqual(urls.slice(0, run.urls.length));
      expect(run.urls.length).toBeGreaterThan(10);
      expect(run.urls.length + run.skipped).toBe(99);
    }
  });

  it("of other schemes are no pages", () => {
    const urls = [
      "javascript:alert(1)",
      "data:text/html,x",
      "file:///etc/passwd",
      "//a.example/",
      "https://",
      "https://a.example/",
    ];
    expect(mergeUrls([{ provider: "serper", urls }]).map(({ url }) => url)).toEqual(["https://a.example/"]);
  });
});

describe("the deadline", () => {
  it("holds for all together, and what the fast ones found is kept", async () => {
    const fast = await server((response) => response.end(ONE));
    const silent = await server(() => undefined);
    const drip = await server((response) => {
      response.writeHead(200).write('{"type":"search",');
      const timer = setInterval(() => response.write(" "), 20);
      response.on("close", () => clearInterval(timer));
    });
    const busy = await server((response) => response.writeHead(503).end());
    const providers = [
      provider("serper", fast),
      provider("google", silent),
      provider("brave", drip),
      provider("searxng", busy),
    ];
    const searched = async (deadlineMs: number) => {
      const started = performance.now();
      const runs = await search(providers, { deadlineMs });
      return { runs, inTime: performance.now() - started < 2 * deadlineMs };
    };
    let { runs, inTime } = await searched(600);
    // a machine that is slow may be too slow for that, and not for more
    const answered = () => runs[0]?.error === null && runs[3]?.error === "503";
    for (let deadlineMs = 2_000; !(inTime && answered()) && deadlineMs < 20_000; deadlineMs *= 2) {
      ({ runs, inTime } = await searched(deadlineMs));
    }
    expect(inTime).toBe(true);
    expect(runs.map(({ error }) => error)).toEqual([null, "timeout", "timeout", "503"]);
    expect(runs[0]?.urls).toEqual(["https://a.example/"]);
  });

  it("that has passed lets nobody be asked, e.g. where a message is delivered again", async () => {
    const run = await serper((response) => response.end(ONE), { deadlineMs: -1 });
    expect([run.error, run.requests()]).toEqual(["timeout", 0]);
  });

  it("holds while the keys do not come", async () => {
    const double = await server((response) => response.end(ONE));
    const key = () => new Promise<never>(() => undefined);
    const [run] = await search([provider("serper", double, { apiKeyEnv: "K" })], { key, deadlineMs: 100 });
    expect([run?.error, double.requests()]).toEqual(["timeout", 0]);
  });

  it.each([
    ["that is negative", "-5"],
    ["that is nonsense", "soon"],
    ["that is over", "Thu, 01 Jan 1970 00:00:00 GMT"],
    ["of nought", "0"],
  ])("bounds the tries after a Retry-After %s: four, with pauses between them", async (_what, value) => {
    const at: number[] = [];
    const run = await serper((response) => {
      at.push(performance.now());
      response.writeHead(429, { "retry-after": value }).end();
    });
    expect([run.error, run.requests()]).toEqual(["429", 4]);
    expect((at[3] as number) - (at[0] as number)).toBeGreaterThan(600);
  });

  it.each([
    ["huge", "99999999999999"],
    ["a date in an hour", new Date(Date.now() + 3_600_000).toUTCString()],
  ])("lets nobody wait for a Retry-After that is %s", async (_what, value) => {
    const run = await serper((response) => response.writeHead(503, { "retry-after": value }).end());
    expect([run.error, run.requests()]).toEqual(["503", 1]);
  });
});

describe("keys", () => {
  it("that no header can hold are told, and not shown", async () => {
    const double = await server((response) => response.end(ONE));
    const [run] = await search([provider("serper", double, { apiKeyEnv: "K" })], { key: async () => "se\ncret" });
    expect(run?.error).toBe("the key holds characters that cannot be sent");
    expect(double.requests()).toBe(0);
    expect(lines.join()).not.toContain("cret");
  });

  it("that cannot be read stop those alone who need them", async () => {
    const double = await server((response) => response.end('{"results":[{"url":"https://a.example/"}]}'));
    const key = async () => {
      throw new RetryableError("The secret could not be read", { code: "KEYS_UNREADABLE" });
    };
    const runs = await search([provider("serper", double, { apiKeyEnv: "K" }), provider("searxng", double)], { key });
    expect(runs.map(({ error }) => error)).toEqual(["the secret of the provider keys cannot be read", null]);
    const llm = {
      provider: "openai",
      model: "m",
      endpoint: double.url,
      temperature: 0,
      maxTokens: 16,
      timeoutMs: 30_000,
    };
    const rewrite = { kind: "rewrite", llm: { ...llm, apiKeyEnv: "K" }, prompt: "p", query: "q" };
    await expect(answerHarvestRequest(tools({ key }), rewrite, 60_000)).rejects.toMatchObject({
      status: 502,
      message: "LLM call failed",
      details: { text: "auth: the secret of the provider keys cannot be read" },
    });
  });
});

it("a fault of our own fails one provider, is logged, and is not tried again", async () => {
  const double = await server((response) => response.end('{"results":[{"url":"https://a.example/"}]}'));
  const key = async () => {
    throw new TypeError("a mistake");
  };
  const runs = await search([provider("serper", double, { apiKeyEnv: "K" }), provider("searxng", double)], { key });
  expect(runs.map(({ error }) => error)).toEqual(["failed on our side: the log has the details", null]);
  expect(lines.join()).toContain("a mistake");
});

it("a model that writes a megabyte is refused, not lost", async () => {
  const content = "x".repeat(1_000_000);
  const double = await server((response) => response.end(JSON.stringify({ choices: [{ message: { content } }] })));
  const llm = { provider: "local", model: "m", endpoint: double.url, temperature: 0, maxTokens: 16, timeoutMs: 30_000 };
  const rewrite = { kind: "rewrite", llm: { ...llm, apiKeyEnv: null }, prompt: "p", query: "q" };
  const { text } = (await answerHarvestRequest(tools(), rewrite, 60_000)) as { text: string };
  expect(text.length).toBe(32 * 1024 + 1);
});

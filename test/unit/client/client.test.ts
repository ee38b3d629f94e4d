/** The client before a server that answers as it is told. */
import { expect, it } from "vitest";
import { ApiError, ConnectionError, createClient } from "../../../client/src/index.ts";

interface Asked {
  method: string;
  url: URL;
  headers: Headers;
  body: unknown;
}

/** @param answers one for each request; an Error is that of a broken connection */
function scripted(...answers: (Response | Error)[]) {
  const asked: Asked[] = [];
  const waits: number[] = [];
  const client = createClient({
    url: "http://api.test/live/",
    apiKey: "sl_key",
    async fetch(input, init) {
      const { method = "GET", headers, body } = init ?? {};
      const url = new URL(String(input));
      asked.push({ method, url, headers: new Headers(headers), body: body && JSON.parse(String(body)) });
      const answer = answers.shift();
      if (answer instanceof Response) return answer;
      throw answer ?? new Error("asked too often");
    },
    async delay(ms, signal) {
      signal?.throwIfAborted();
      waits.push(ms);
    },
  });
  return { client, asked, waits };
}

const json = (value: unknown, init: ResponseInit = {}) => Response.json(value, init);
const failed = (status: number, headers: Record<string, string> = {}) =>
  json({ error: "No", code: "X", request_id: "r1" }, { status, headers });
const events = (text: string) => new Response(text, { headers: { "content-type": "text/event-stream" } });

it("fills the path, the query and the body, and sends the key", async () => {
  const { client, asked } = scripted(json({ items: [], next_cursor: null, has_more: false }), json({}));
  await client.call("listChunks", { path: { document_id: "a/b c" }, query: { limit: 5 } });
  expect(asked[0]?.url.href).toBe("http://api.test/live/api/v1/documents/a%2Fb%20c/chunks?limit=5");
  expect(asked[0]?.headers.get("authorization")).toBe("Bearer sl_key");
  await client.call("search", { body: { query: "tides" } });
  expect(asked[1]).toMatchObject({ method: "POST", body: { query: "tides" } });
  expect(asked[1]?.headers.get("idempotency-key")).toBeNull();
  // @ts-expect-error the path needs a document, as the types say too
  await expect(client.call("getDocument")).rejects.toThrow("needs document_id");
});

it("tries what starts something again under one key, and another call under another", async () => {
  const started = json({ job_id: "j" }, { status: 202 });
  const { client, asked } = scripted(new Error("reset"), failed(502), started.clone(), started.clone());
  await client.call("crawlSite", { body: { url: "https://example.org/" } });
  await client.call("crawlSite", { body: { url: "https://example.org/" } });
  const keys = asked.map(({ headers }) => headers.get("idempotency-key"));
  expect(new Set(keys.slice(0, 3)).size).toBe(1);
  expect(keys[3]).not.toBe(keys[0]);
  expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/);
});

it("waits as Retry-After says, and not longer than it was told to", async () => {
  const { client, waits } = scripted(
    failed(429, { "retry-after": "7" }),
    failed(503, { "retry-after": "2" }),
    json({}),
  );
  await client.call("search", { body: { query: "a" } });
  expect(waits).toEqual([7_000, 2_000]);
  const { client: other } = scripted(failed(429, { "retry-after": "3600" }));
  await expect(other.call("getStats")).rejects.toMatchObject({ status: 429, retryAfterS: 3_600 });
});

it.each([
  ["a connection that breaks", new Error("reset")],
  ["503, which may come once the request was taken", failed(503, { "retry-after": "1" })],
  ["500", failed(500)],
])("does not send twice what might be done twice: %s", async (_, answer) => {
  const { client, asked } = scripted(answer, json({}));
  const created = client.call("createWebhook", { body: { url: "https://hooks.example/" } });
  await expect(created).rejects.toThrow(answer instanceof Error ? ConnectionError : ApiError);
  expect(asked).toHaveLength(1);
});

it("sends again what was refused before it was looked at, and questions that are asked by POST", async () => {
  const { client, asked } = scripted(failed(429, { "retry-after": "1" }), json({ id: "w" }, { status: 201 }));
  await client.call("createWebhook", { body: { url: "https://hooks.example/" } });
  expect(asked).toHaveLength(2);
  const { client: other, asked: questions } = scripted(new Error("reset"), failed(503), json({ results: [] }));
  await other.call("search", { body: { query: "a" } });
  expect(questions).toHaveLength(3);
});

it("waits for the first of two requests with one key, and does not where the key was another request's", async () => {
  const conflict = (code: string, headers: Record<string, string> = {}) =>
    json({ error: "No", code, request_id: "r" }, { status: 409, headers });
  const { client, asked, waits } = scripted(
    new Error("reset"),
    conflict("IDEMPOTENCY_IN_PROGRESS", { "retry-after": "1" }),
    json({ job_id: "j" }, { status: 202 }),
    conflict("IDEMPOTENCY_KEY_REUSED"),
  );
  const body = { url: "https://example.org/" };
  expect(await client.call("crawlSite", { body })).toEqual({ job_id: "j" });
  expect(waits.at(-1)).toBe(1_000);
  await expect(client.call("crawlSite", { body })).rejects.toMatchObject({ code: "IDEMPOTENCY_KEY_REUSED" });
  expect(asked).toHaveLength(4);
});

it("gives up after five tries", async () => {
  const { client, asked } = scripted(...Array.from({ length: 5 }, () => failed(503)));
  await expect(client.call("getStats")).rejects.toThrow(ApiError);
  expect(asked).toHaveLength(5);
});

it.each([
  [{ error: "Blocked", code: "URL_BLOCKED", request_id: "r" }, "Blocked"],
  [{ error: "UrlBlocked", error_code: "URL_BLOCKED", message: "Blocked", request_id: "r" }, "Blocked"],
])("reads the errors of each family: %j", async (body, message) => {
  const { client } = scripted(json(body, { status: 400 }));
  const error = await client.call("getStats").catch((each: unknown) => each);
  expect(error).toMatchObject({ status: 400, code: "URL_BLOCKED", message, requestId: "r" });
  expect((error as ApiError).hint).toContain("ACCESS__ALLOW_HOSTS");
});

it("reads a list to its end", async () => {
  const page = (ids: string[], next: string | null) => json({ items: ids.map((id) => ({ id })), next_cursor: next });
  const { client, asked } = scripted(page(["a", "b"], "c1"), failed(503), page(["c"], null));
  const ids: string[] = [];
  for await (const { id } of client.items("listDocuments", { query: { limit: 2 } })) ids.push(id);
  expect(ids).toEqual(["a", "b", "c"]);
  expect(asked.at(-1)?.url.search).toBe("?limit=2&cursor=c1");
});

it("goes on with a stream that breaks, without an event twice", async () => {
  const { client, asked } = scripted(
    events('id: 1\ndata: {"n":1}\n\nid: 2\ndata: {"n":2}\n\nid: 3\ndata: {"n"'),
    failed(503),
    events('id: 2\ndata: {"n":2}\n\nid: 3\ndata: {"n":3}\n\n'),
    new Response(null, { status: 204 }),
  );
  const seen: unknown[] = [];
  for await (const event of client.events("streamJobPages", { path: { job_id: "j" } })) seen.push(event);
  expect(seen).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
  expect(asked.map(({ headers }) => headers.get("last-event-id"))).toEqual([null, "2", "2", "3"]);
});

it("starts no second crawl for the events of a request that starts one", async () => {
  const { client, asked } = scripted();
  const read = async () => {
    // @ts-expect-error its records are read as lines
    for await (const _ of client.events("spiderCrawl", { body: { seed_urls: ["https://example.org/"] } }));
  };
  await expect(read()).rejects.toThrow(TypeError);
  expect(asked).toEqual([]);
});

it("gives up a stream that brings nothing", async () => {
  const { client } = scripted(...Array.from({ length: 5 }, () => events("")));
  const read = async () => {
    for await (const _ of client.events("streamJobPages", { path: { job_id: "j" } }));
  };
  await expect(read()).rejects.toThrow(ConnectionError);
});

it("ends what it does with the signal", async () => {
  const { client, asked } = scripted();
  const signal = AbortSignal.abort(new Error("enough"));
  await expect(client.call("getStats", {}, { signal })).rejects.toThrow("enough");
  await expect(client.waitForJob("j", { signal })).rejects.toThrow("enough");
  expect(asked).toEqual([]);
});

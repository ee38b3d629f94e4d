/** Lists that come as lines of JSON, before a server that breaks them off. */
import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { ApiError, ConnectionError, createClient } from "../../../client/src/index.ts";

interface Asked {
  url: URL;
  headers: Headers;
  body: unknown;
}

/** @param answers one for each request */
function scripted(...answers: Response[]) {
  const asked: Asked[] = [];
  const client = createClient({
    url: "http://api.test",
    apiKey: "sl_key",
    async fetch(input, { headers, body } = {}) {
      asked.push({
        url: new URL(String(input)),
        headers: new Headers(headers),
        body: body && JSON.parse(String(body)),
      });
      const answer = answers.shift();
      if (answer === undefined) throw new Error("asked too often");
      return answer;
    },
    async delay() {},
  });
  return { client, asked };
}

const line = (value: unknown) => `${JSON.stringify(value)}\n`;
const rows = (...ids: number[]) => ids.map((id) => line({ snapshot_id: id })).join("");
const whole = (text: string) => new Response(text, { headers: { "content-type": "application/x-ndjson" } });

/** The bytes come, and then the connection breaks. */
const broken = (bytes: string | Uint8Array) => {
  const chunks = [typeof bytes === "string" ? new TextEncoder().encode(bytes) : bytes];
  return new Response(
    new ReadableStream({
      pull(controller) {
        const chunk = chunks.shift();
        if (chunk === undefined) controller.error(new Error("reset"));
        else controller.enqueue(chunk);
      },
    }),
  );
};

async function all<T>(records: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const each of records) found.push(each);
  return found;
}

it("reads a list part by part, and goes on after the last whole row where a part breaks", async () => {
  const { client, asked } = scripted(whole(rows(1, 2)), broken(`${rows(5)}{"snapshot_`), whole(rows(7)), whole(""));
  const found = await all(client.lines("exportSnapshots", { query: { limit: 2, source: "clinic" } }));
  expect(found).toEqual([1, 2, 5, 7].map((snapshot_id) => ({ snapshot_id })));
  expect(asked.map(({ url }) => url.searchParams.get("afterId"))).toEqual([null, "2", "5", "7"]);
  expect(asked[0]?.url.search).toBe("?limit=2&source=clinic&format=ndjson&compressed=false");
});

it("follows the key of a list of captures, and reads a part anew without a row twice", async () => {
  const { client, asked } = scripted(
    whole(`${line({ url: "a" })}${line({ resumeKey: "k1" })}`),
    broken(line({ url: "b" })),
    whole(`${line({ url: "b" })}${line({ url: "c" })}`),
  );
  const found = await all(client.lines("queryCdx", { query: { url: "example.org/*" } }));
  expect(found).toEqual([{ url: "a" }, { url: "b" }, { url: "c" }]);
  expect(asked.map(({ url }) => url.searchParams.get("resumeKey"))).toEqual([null, "k1", "k1"]);
  expect(asked[0]?.url.search).toBe("?url=example.org%2F*&output=ndjson&showResumeKey=true");
});

it("asks for no key of captures where there is none", async () => {
  const { client, asked } = scripted(whole(line({ url: "a" })), whole(line({ url: "a" })));
  await all(client.lines("queryCdx", { query: { url: "a", closest: "2024" } }));
  await all(client.lines("queryCdx", { query: { url: "a", limit: -5 } }));
  expect(asked.map(({ url }) => url.searchParams.has("showResumeKey"))).toEqual([false, false]);
});

it("unpacks the parts of an export of documents, and tells the key to no other server", async () => {
  const part = (next: string | null) => Response.json({ download_url: "http://store.test/p", next_cursor: next });
  const packed = (...ids: string[]) => new Uint8Array(gzipSync(ids.map((id) => line({ id })).join("")));
  const { client, asked } = scripted(
    part("c1"),
    broken(packed("a", "b").subarray(0, 20)),
    new Response(packed("a", "b")),
    part(null),
    new Response(packed("c")),
  );
  const found = await all(client.lines("exportDocuments", { body: { domain: "example.org" } }));
  expect(found).toEqual([{ id: "a" }, { id: "b" }, { id: "c" }]);
  expect(asked.map(({ url }) => url.pathname)).toEqual([
    "/api/v1/documents/export",
    "/p",
    "/p",
    "/api/v1/documents/export",
    "/p",
  ]);
  expect(asked[3]?.body).toEqual({ domain: "example.org", cursor: "c1" });
  expect(asked[1]?.headers.has("authorization")).toBe(false);
});

it("reads the pages of a crawl under one key, so that a break starts no second one", async () => {
  const page = (url: string) => line({ type: "page", data: { url } });
  const wait = line({ type: "error", data: { code: "HOST_WAITS" } });
  const stats = line({ type: "stats", data: {} });
  const { client, asked } = scripted(
    broken(wait + page("a") + page("b")),
    whole(page("a") + wait + page("b") + page("c") + stats),
  );
  const found = await all(client.lines("spiderCrawl", { body: { seed_urls: ["https://example.org/"] } }));
  const names = found.map((record) => (record.type === "page" ? record.data.url : record.type));
  expect(names).toEqual(["error", "a", "b", "c", "stats"]);
  expect(asked.map(({ headers }) => headers.get("accept"))).toEqual(Array(2).fill("application/x-ndjson"));
  expect(new Set(asked.map(({ headers }) => headers.get("idempotency-key"))).size).toBe(1);
});

it("gives the API's errors, and gives up what breaks again and again", async () => {
  const refused = Response.json({ error: "No", code: "FEATURE_OFF", request_id: "r" }, { status: 404 });
  await expect(all(scripted(refused).client.lines("exportChanges"))).rejects.toThrow(ApiError);
  const { client } = scripted(...Array.from({ length: 5 }, () => broken("")));
  await expect(all(client.lines("exportChanges"))).rejects.toThrow(ConnectionError);
});

it("does not take a line that is no JSON for the end", async () => {
  await expect(all(scripted(whole('{"a":1}\n{"b"')).client.lines("exportChanges"))).rejects.toThrow(SyntaxError);
});

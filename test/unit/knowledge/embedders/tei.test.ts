import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Embedder } from "../../../../shared/knowledge/embedders/embedder.ts";
import { teiDescriptor } from "../../../../shared/knowledge/embedders/server-descriptors.ts";
import { createTeiEmbedder } from "../../../../shared/knowledge/embedders/tei.ts";
import { PermanentError, RetryableError, ThrottledError } from "../../../../shared/platform/errors.ts";
import { type DoubleAnswer, httpDouble, type ReceivedRequest } from "../../../services/http-double.ts";

/** A server that answers `/info` with what is given, and texts as a test says; `requests` are those with texts. */
async function served(
  answer: (request: ReceivedRequest) => DoubleAnswer | "hang up" | "stall",
  info: object | null = null,
) {
  const { url, requests } = await httpDouble((request) => {
    if (request.path !== "/info") return answer(request);
    return info === null ? { status: 404 } : { body: info };
  });
  return {
    url,
    get requests() {
      return requests.filter(({ path }) => path !== "/info");
    },
    get infos() {
      return requests.filter(({ path }) => path === "/info");
    },
  };
}

const lengths = ({ body }: ReceivedRequest) => ({ body: inputsOf(body).map((text) => [text.length, 0, 1]) });

const embedderAt = (url: string, options: { model?: string; timeoutMs?: number; batchSize?: number } = {}): Embedder =>
  createTeiEmbedder({
    url,
    apiKey: "secret",
    descriptor: teiDescriptor({ teiModel: options.model ?? "Qwen/Qwen3-Embedding-0.6B", teiDimension: 3 }),
    timeoutMs: options.timeoutMs ?? 5_000,
    batchSize: options.batchSize ?? 2,
  });

const inputsOf = (body: unknown): string[] => (body as { inputs: string[] }).inputs;

describe("the TEI embedder", () => {
  test("embeds in batches, in order", async () => {
    const server = await served(lengths);
    const vectors = await embedderAt(`${server.url}/`).embedDocuments(["a", "bb", "ccc"]);
    expect(vectors.map((vector) => vector?.[0])).toEqual([1, 2, 3]);
    expect(server.requests[0]?.headers["authorization"]).toBe("Bearer secret");
    expect(server.requests.map(({ method, path, body }) => [method, path, body])).toEqual([
      ["POST", "/embed", { inputs: ["a", "bb"], truncate: true, normalize: true }],
      ["POST", "/embed", { inputs: ["ccc"], truncate: true, normalize: true }],
    ]);
  });

  test("gives Qwen3 its instruction with a query, and other models none", async () => {
    const server = await served(() => ({ body: [[1, 0, 0]] }));
    await embedderAt(server.url).embedQuery("whales");
    await embedderAt(server.url, { model: "BAAI/bge-m3" }).embedQuery("whales");
    expect(server.requests.flatMap(({ body }) => inputsOf(body))).toEqual([
      "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:whales",
      "whales",
    ]);
  });

  test("passes on how long the server asked it to stay away", async () => {
    const { url } = await served(() => ({ status: 429, headers: { "retry-after": "7" }, body: {} }));
    const error = await embedderAt(url)
      .embedDocuments(["a"])
      .catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(ThrottledError);
    expect(error).toMatchObject({ code: "EMBEDDER_BUSY", retryAfterMs: 7_000 });
  });

  test.each([
    [429, "EMBEDDER_BUSY"],
    [503, "EMBEDDER_UNAVAILABLE"],
    [424, "EMBEDDER_UNAVAILABLE"],
    [500, "EMBEDDER_UNAVAILABLE"],
  ])("tries again later after %i", async (status, code) => {
    const { url } = await served(() => ({
      status,
      body: { error: "Model is overloaded", error_type: "overloaded" },
    }));
    const error = await embedderAt(url)
      .embedDocuments(["a"])
      .catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(RetryableError);
    expect(error).toMatchObject({ code, message: expect.stringContaining("Model is overloaded") });
  });

  test.each([413, 422])("gives up a text that is refused with %i", async (status) => {
    const { url } = await served(() => ({ status, body: { error: "too long", error_type: "validation" } }));
    await expect(embedderAt(url).embedDocuments(["a"])).rejects.toBeInstanceOf(PermanentError);
  });

  test.each([
    ["too few vectors", []],
    ["words for numbers", [["one", "two", "three"]]],
    ["an object", { data: [[1, 2, 3]] }],
    ["half a body", "[[1, 2, "],
  ])("takes no answer of %s", async (_name, body) => {
    const { url } = await served(() => ({ body }));
    await expect(embedderAt(url).embedDocuments(["a"])).rejects.toMatchObject({ code: "EMBEDDER_ANSWER_INVALID" });
  });

  test.each(["hang up", "stall"] as const)("tries again later where the server does %s", async (fault) => {
    const { url } = await served(() => fault);
    await expect(embedderAt(url, { timeoutMs: 200 }).embedDocuments(["a"])).rejects.toMatchObject({
      name: "RetryableError",
      code: "EMBEDDER_UNAVAILABLE",
    });
  });

  test("shows a number that is none to validation", async () => {
    const { url } = await served(() => ({ body: [[null, 1, 1]] }));
    expect([...((await embedderAt(url).embedDocuments(["a"]))[0] ?? [])]).toEqual([Number.NaN, 1, 1]);
  });

  test.each([
    [503, "EMBEDDER_UNAVAILABLE"],
    [401, "EMBEDDER_KEY_REFUSED"],
  ])("is not ready where the server answers its check with %i", async (status, code) => {
    const { url } = await httpDouble(() => ({ status }));
    await expect(embedderAt(url).check(AbortSignal.timeout(1_000))).rejects.toMatchObject({ code });
  });

  test("asks once what the server is, and sends no more texts at once than that takes", async () => {
    const server = await served(lengths, { model_id: "Qwen/Qwen3-Embedding-0.6B", max_client_batch_size: 3 });
    const embedder = embedderAt(server.url, { batchSize: 100 });
    await embedder.embedDocuments(["a", "b", "c", "d"]);
    await embedder.embedQuery("e");
    expect(server.requests.map(({ body }) => inputsOf(body).length)).toEqual([3, 1, 1]);
    expect(server.infos).toHaveLength(1);
  });

  test.each([
    [undefined, 1],
    [2, 2],
    [512, 4],
  ])("has as many batches under way as a server of %s requests takes: %i", async (max_concurrent_requests, most) => {
    let [underWay, seen] = [0, 0];
    const server = createServer(async (request, response) => {
      const pieces: Buffer[] = [];
      for await (const piece of request) pieces.push(piece as Buffer);
      if (request.url === "/info") {
        return response.end(JSON.stringify({ model_id: "Qwen/Qwen3-Embedding-0.6B", max_concurrent_requests }));
      }
      seen = Math.max(seen, ++underWay);
      await new Promise((later) => setTimeout(later, 20));
      underWay -= 1;
      const inputs = inputsOf(JSON.parse(Buffer.concat(pieces).toString()));
      return response.end(JSON.stringify(inputs.map((text) => [text.length, 0, 1])));
    });
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    onTestFinished(() => void server.close());
    const texts = Array.from({ length: 21 }, (_, index) => "x".repeat(index));
    const embedder = embedderAt(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const vectors = await embedder.embedDocuments(texts);
    expect(vectors.map((vector) => vector?.[0])).toEqual(texts.map(({ length }) => length));
    expect(seen).toBe(most);
  });

  test("refuses to mix the vectors of another model with those that are there, and says what to do", async () => {
    const server = await served(lengths, { model_id: "BAAI/bge-m3" });
    const mismatch = { name: "RetryableError", code: "EMBEDDER_MODEL_MISMATCH" };
    const embedder = embedderAt(server.url);
    await expect(embedder.embedDocuments(["a"])).rejects.toMatchObject(mismatch);
    await expect(embedder.embedQuery("a")).rejects.toThrow(/bge-m3.*Qwen3.*TEI__EMBEDDING_MODEL/);
    await expect(embedder.check(AbortSignal.timeout(1_000))).rejects.toMatchObject(mismatch);
    expect(server.requests).toEqual([]);
  });

  test.each(["/data/model", "qwen3-embedding-0.6b", "mirror/Qwen3-Embedding-0.6B"])(
    "takes %s for its model",
    async (name) => {
      const { url } = await served(lengths, { model_id: name });
      expect(await embedderAt(url).embedDocuments(["a"])).toHaveLength(1);
    },
  );

  test("asks again what the server is once it was away", async () => {
    let away = false;
    const server = await served((request) => (away ? { status: 503 } : lengths(request)), { model_id: "/data" });
    const embedder = embedderAt(server.url);
    await embedder.embedDocuments(["a"]);
    away = true;
    await expect(embedder.embedDocuments(["a"])).rejects.toBeInstanceOf(RetryableError);
    away = false;
    await embedder.embedDocuments(["a"]);
    expect(server.infos).toHaveLength(2);
  });

  test("embeds a text that is longer than the model reads in parts, whatever its script", async () => {
    const server = await served(() => ({ body: [[1, 0, 0]] }), { model_id: "/data", max_input_length: 10 });
    const embedder = embedderAt(server.url, { batchSize: 1 });
    for (const text of [
      "one two three four five six seven eight nine ten",
      "一二三四五六七八九十".repeat(3),
      "x".repeat(31),
    ]) {
      const asked = server.requests.length;
      expect(await embedder.embedDocuments([text])).toEqual([Float32Array.of(1, 0, 0)]);
      const inputs = server.requests.slice(asked).flatMap(({ body }) => inputsOf(body));
      expect(inputs.join("")).toBe(text);
      expect(Math.max(...inputs.map((input) => Buffer.byteLength(input)))).toBeLessThanOrEqual(30);
    }
  });

  test("joins the vectors of parts by their lengths", async () => {
    const server = await served(
      ({ body }) => ({ body: inputsOf(body).map((text) => (text.includes("a") ? [1, 0] : [0, 1])) }),
      {
        model_id: "/data",
        max_input_length: 4,
      },
    );
    const [vector] = await embedderAt(server.url).embedDocuments(["aaaa aaaa bbbb"]);
    expect(vector?.map((value) => Math.round(value * 100) / 100)).toEqual(Float32Array.of(0.93, 0.37));
  });
});

import { describe, expect, test } from "vitest";
import type { Embedder } from "../../../../shared/knowledge/embedders/embedder.ts";
import { createTeiEmbedder } from "../../../../shared/knowledge/embedders/tei.ts";
import { teiDescriptor } from "../../../../shared/knowledge/embedders/tei-descriptor.ts";
import { PermanentError, RetryableError, ThrottledError } from "../../../../shared/platform/errors.ts";
import { httpDouble } from "../../../services/http-double.ts";

const embedderAt = (url: string, options: { model?: string; timeoutMs?: number } = {}): Embedder =>
  createTeiEmbedder({
    url,
    descriptor: teiDescriptor({ teiModel: options.model ?? "Qwen/Qwen3-Embedding-0.6B", teiDimension: 3 }),
    timeoutMs: options.timeoutMs ?? 5_000,
    batchSize: 2,
  });

const inputsOf = (body: unknown): string[] => (body as { inputs: string[] }).inputs;

describe("the TEI embedder", () => {
  test("embeds in batches, in order", async () => {
    const { url, requests } = await httpDouble(({ body }) => ({
      body: inputsOf(body).map((text) => [text.length, 0, 1]),
    }));
    const vectors = await embedderAt(`${url}/`).embedDocuments(["a", "bb", "ccc"]);
    expect(vectors.map((vector) => vector?.[0])).toEqual([1, 2, 3]);
    expect(requests.map(({ method, path, body }) => [method, path, body])).toEqual([
      ["POST", "/embed", { inputs: ["a", "bb"], truncate: true, normalize: true }],
      ["POST", "/embed", { inputs: ["ccc"], truncate: true, normalize: true }],
    ]);
  });

  test("gives Qwen3 its instruction with a query, and other models none", async () => {
    const { url, requests } = await httpDouble(() => ({ body: [[1, 0, 0]] }));
    await embedderAt(url).embedQuery("whales");
    await embedderAt(url, { model: "BAAI/bge-m3" }).embedQuery("whales");
    expect(requests.flatMap(({ body }) => inputsOf(body))).toEqual([
      "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:whales",
      "whales",
    ]);
  });

  test("passes on how long the server asked it to stay away", async () => {
    const { url } = await httpDouble(() => ({ status: 429, headers: { "retry-after": "7" }, body: {} }));
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
    const { url } = await httpDouble(() => ({
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
    const { url } = await httpDouble(() => ({ status, body: { error: "too long", error_type: "validation" } }));
    await expect(embedderAt(url).embedDocuments(["a"])).rejects.toBeInstanceOf(PermanentError);
  });

  test.each([
    ["too few vectors", []],
    ["words for numbers", [["one", "two", "three"]]],
    ["an object", { data: [[1, 2, 3]] }],
    ["half a body", "[[1, 2, "],
  ])("takes no answer of %s", async (_name, body) => {
    const { url } = await httpDouble(() => ({ body }));
    await expect(embedderAt(url).embedDocuments(["a"])).rejects.toMatchObject({ code: "EMBEDDER_ANSWER_INVALID" });
  });

  test.each(["hang up", "stall"] as const)("tries again later where the server does %s", async (fault) => {
    const { url } = await httpDouble(() => fault);
    await expect(embedderAt(url, { timeoutMs: 200 }).embedDocuments(["a"])).rejects.toMatchObject({
      name: "RetryableError",
      code: "EMBEDDER_UNAVAILABLE",
    });
  });

  test("shows a number that is none to validation", async () => {
    const { url } = await httpDouble(() => ({ body: [[null, 1, 1]] }));
    expect([...((await embedderAt(url).embedDocuments(["a"]))[0] ?? [])]).toEqual([Number.NaN, 1, 1]);
  });

  test("asks the server's health", async () => {
    const { url, requests } = await httpDouble(() => ({ status: 503 }));
    await expect(embedderAt(url).check(AbortSignal.timeout(1_000))).rejects.toBeInstanceOf(RetryableError);
    expect(requests.map(({ path }) => path)).toEqual(["/health"]);
  });
});

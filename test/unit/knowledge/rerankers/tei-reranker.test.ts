import { describe, expect, test } from "vitest";
import { createReranker } from "../../../../shared/knowledge/rerankers/registry.ts";
import { createTeiReranker } from "../../../../shared/knowledge/rerankers/tei-reranker.ts";
import { type DoubleAnswer, httpDouble, type ReceivedRequest } from "../../../services/http-double.ts";

/** As Text Embeddings Inference 1.8 answers with a cross-encoder. */
const INFO = {
  model_id: "BAAI/bge-reranker-base",
  model_sha: null,
  model_dtype: "float32",
  model_type: { reranker: { id2label: { "0": "LABEL_0" }, label2id: { LABEL_0: 0 } } },
  max_concurrent_requests: 512,
  max_input_length: 512,
  max_batch_tokens: 16_384,
  max_client_batch_size: 32,
  auto_truncate: false,
  version: "1.8.0",
};
type Given = DoubleAnswer | "hang up" | "stall";

/** Scores a text by its length, the best first, as the server does. */
function byLength({ body }: ReceivedRequest): DoubleAnswer {
  const { texts } = body as { texts: string[] };
  const scores = texts.map((text, index) => ({ index, score: text.length / 100 }));
  return { body: scores.toSorted((a, b) => b.score - a.score) };
}

async function served(answer: (request: ReceivedRequest) => Given = byLength, info: Given = { body: INFO }) {
  const { url, requests } = await httpDouble((request) => (request.path === "/info" ? info : answer(request)));
  return { url, ranked: () => requests.filter(({ path }) => path === "/rerank"), requests };
}

const rerankerAt = (url: string, { timeoutMs = 5_000, batchSize = 32, apiKey = "" } = {}) =>
  createTeiReranker({ url, apiKey, timeoutMs, batchSize });

describe("the reranker of Text Embeddings Inference", () => {
  test("gives each text its score, in the order of the texts", async () => {
    const server = await served();
    const reranker = rerankerAt(`${server.url}/`, { apiKey: "secret" });
    expect(await reranker.rerank("q", ["aaa", "a", "aa"])).toEqual([0.03, 0.01, 0.02]);
    expect(server.ranked()).toMatchObject([
      {
        method: "POST",
        headers: { authorization: "Bearer secret" },
        body: { query: "q", texts: ["aaa", "a", "aa"], raw_scores: false, truncate: true },
      },
    ]);
  });

  test("is ready where the server answers to the key with a reranker", async () => {
    const signal = AbortSignal.timeout(5_000);
    const server = await served();
    await rerankerAt(server.url, { apiKey: "secret" }).check(signal);
    expect(server.requests).toMatchObject([{ path: "/info", headers: { authorization: "Bearer secret" } }]);
    const another = { ...INFO, model_type: { embedding: { pooling: "cls" } } };
    const faults: [Given, string][] = [
      [{ status: 401, body: { error: "no" } }, "RERANKER_KEY_REFUSED"],
      [{ status: 503, body: { error: "loading" } }, "RERANKER_UNAVAILABLE"],
      ["hang up", "RERANKER_UNAVAILABLE"],
      [{ body: another }, "RERANKER_MODEL_MISMATCH"],
    ];
    for (const [info, code] of faults) {
      await expect(rerankerAt((await served(byLength, info)).url).check(signal)).rejects.toMatchObject({ code });
    }
    const silent = rerankerAt((await served(byLength, "stall")).url, { timeoutMs: 60_000 });
    await expect(silent.check(AbortSignal.timeout(100))).rejects.toMatchObject({ code: "RERANKER_UNAVAILABLE" });
  });

  test("stays within the batch size that the server tells, and reads that once", async () => {
    const server = await served(byLength, { body: { ...INFO, max_client_batch_size: 2 } });
    const reranker = rerankerAt(server.url);
    const texts = ["aaaaa", "a", "aaa", "aa", "aaaa"];
    expect(await reranker.rerank("q", texts)).toEqual([0.05, 0.01, 0.03, 0.02, 0.04]);
    await reranker.rerank("q", ["a"]);
    const sizes = server.ranked().map(({ body }) => (body as { texts: string[] }).texts.length);
    expect(sizes.toSorted()).toEqual([1, 1, 2, 2]);
    expect(server.requests.filter(({ path }) => path === "/info")).toHaveLength(1);
  });

  test("asks for no more than is configured, also of a server that tells no limits", async () => {
    const server = await served(byLength, { status: 404 });
    expect(await rerankerAt(server.url, { batchSize: 1 }).rerank("q", ["aa", "a"])).toEqual([0.02, 0.01]);
    expect(server.ranked()).toHaveLength(2);
  });

  test.each<[string, Given, Given, string]>([
    ["is overloaded", { body: INFO }, { status: 429, body: { error: "Model is overloaded" } }, "RERANKER_BUSY"],
    ["fails", { body: INFO }, { status: 424, body: { error: "backend" } }, "RERANKER_UNAVAILABLE"],
    ["starts", { status: 503 }, {}, "RERANKER_UNAVAILABLE"],
    ["hangs up", { body: INFO }, "hang up", "RERANKER_UNAVAILABLE"],
    ["wants a key", { status: 401 }, {}, "RERANKER_KEY_REFUSED"],
    ["refuses the texts", { body: INFO }, { status: 413, body: { error: "too long" } }, "RERANKER_REFUSED"],
    ["leaves one out", { body: INFO }, { body: [{ index: 0, score: 1 }] }, "RERANKER_ANSWER_INVALID"],
    ["has no scores", { body: INFO }, { body: [{ index: 0 }, { index: 1 }] }, "RERANKER_ANSWER_INVALID"],
    ["has null for one", { body: INFO }, { body: [{ index: 0, score: null }] }, "RERANKER_ANSWER_INVALID"],
    ["answers no JSON", { body: INFO }, { body: "<html>" }, "RERANKER_ANSWER_INVALID"],
    [
      "runs a model of embeddings",
      { body: { ...INFO, model_type: { embedding: { pooling: "cls" } } } },
      {},
      "RERANKER_MODEL_MISMATCH",
    ],
  ])("says so where the server %s", async (_name, info, answer, code) => {
    const server = await served(() => answer, info);
    await expect(rerankerAt(server.url).rerank("q", ["a", "b"])).rejects.toMatchObject({ code });
  });

  test("waits no longer than it may, whatever it waits for", async () => {
    for (const server of [await served(() => "stall"), await served(byLength, "stall")]) {
      const waiting = rerankerAt(server.url, { timeoutMs: 100 }).rerank("q", ["a"]);
      await expect(waiting).rejects.toMatchObject({ code: "RERANKER_UNAVAILABLE" });
    }
  });

  test("is there where it is configured", () => {
    const config = { rerankUrl: "", rerankApiKey: "", rerankTimeoutS: 3, rerankBatchSize: 32 };
    expect(createReranker(config)).toBeNull();
    expect(createReranker({ ...config, rerankUrl: "http://127.0.0.1:1" })).not.toBeNull();
  });
});

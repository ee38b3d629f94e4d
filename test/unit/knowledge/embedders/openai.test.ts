import { describe, expect, test } from "vitest";
import { createOpenAiEmbedder } from "../../../../shared/knowledge/embedders/openai.ts";
import { openAiDescriptor } from "../../../../shared/knowledge/embedders/server-descriptors.ts";
import { httpDouble, type ReceivedRequest } from "../../../services/http-double.ts";

const embedderAt = (url: string, apiKey = "secret") =>
  createOpenAiEmbedder({
    url,
    apiKey,
    descriptor: openAiDescriptor({ openAiModel: "text-embedding-3-small", openAiDimension: 2 }),
    timeoutMs: 2_000,
    batchSize: 2,
  });

const inputOf = ({ body }: ReceivedRequest): string[] => (body as { input: string[] }).input;
/** In the reverse order, and not of length 1. */
const reversed = (request: ReceivedRequest) => ({
  body: {
    object: "list",
    data: inputOf(request)
      .map((text, index) => ({ object: "embedding", index, embedding: [text.length * 3, text.length * 4] }))
      .toReversed(),
    usage: { prompt_tokens: 1, total_tokens: 1 },
  },
});

describe("the embedder that speaks OpenAI's API", () => {
  test("embeds in batches, by index, and normalises", async () => {
    const { url, requests } = await httpDouble(reversed);
    const vectors = await embedderAt(`${url}/v1/`).embedDocuments(["a", "bb", "ccc"]);
    expect(vectors).toEqual(Array.from({ length: 3 }, () => Float32Array.of(0.6, 0.8)));
    expect(requests.map(({ method, path, body }) => ({ method, path, body }))).toContainEqual({
      method: "POST",
      path: "/v1/embeddings",
      body: { model: "text-embedding-3-small", input: ["a", "bb"], encoding_format: "float" },
    });
    expect(requests.map(({ headers }) => headers["authorization"])).toEqual(["Bearer secret", "Bearer secret"]);
    expect(await embedderAt(`${url}/v1`, "").embedQuery("whales")).toEqual(Float32Array.of(0.6, 0.8));
    expect(requests.at(-1)?.headers["authorization"]).toBeUndefined();
  });

  test.each([
    ["too few", { data: [{ index: 0, embedding: [1, 0] }] }],
    ["two of one index", { data: Array.from({ length: 2 }, () => ({ index: 0, embedding: [1, 0] })) }],
    ["words", { data: [{ index: 0, embedding: ["a"] }] }],
    ["HTML", "<html></html>"],
  ])("takes no answer of %s", async (_name, body) => {
    const { url } = await httpDouble(() => ({ body }));
    await expect(embedderAt(url).embedDocuments(["a", "b"])).rejects.toMatchObject({ code: "EMBEDDER_ANSWER_INVALID" });
  });

  test.each([
    [401, "EMBEDDER_KEY_REFUSED", "OPENAI__API_KEY"],
    [429, "EMBEDDER_BUSY", "quota"],
    [400, "EMBEDDER_REFUSED", "quota"],
    [500, "EMBEDDER_UNAVAILABLE", "quota"],
  ])("says what %i means", async (status, code, words) => {
    const { url } = await httpDouble(() => ({ status, body: { error: { message: "quota", type: "any" } } }));
    const refused = embedderAt(url).embedDocuments(["a"]);
    await expect(refused).rejects.toMatchObject({ code });
    await expect(refused).rejects.toThrow(words);
  });

  test("is ready with a server that lists no models, and not with one that refuses the key", async () => {
    const { url } = await httpDouble(() => ({ status: 404 }));
    await embedderAt(url).check(AbortSignal.timeout(1_000));
    const { url: locked } = await httpDouble(() => ({ status: 401 }));
    const refused = { code: "EMBEDDER_KEY_REFUSED" };
    await expect(embedderAt(locked).check(AbortSignal.timeout(1_000))).rejects.toMatchObject(refused);
  });
});

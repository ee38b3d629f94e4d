import { expect, test } from "vitest";
import type { Embedder } from "../../../../shared/knowledge/embedders/embedder.ts";
import { rememberQueries } from "../../../../shared/knowledge/embedders/query-cache.ts";

function counting(cached: boolean) {
  const asked: string[] = [];
  const answers = new Map<string, () => Promise<Float32Array | null>>();
  const embedder: Embedder = {
    descriptor: {
      model: "test",
      dimension: 1,
      maxTokens: 100,
      languages: null,
      cached,
      fusion: { method: "rrf", weights: { vector: 1, keyword: 1 } },
    },
    embedDocuments: async (texts) => texts.map(() => null),
    embedQuery: async (text) => {
      asked.push(text);
      return (await answers.get(text)?.()) ?? new Float32Array([text.length]);
    },
    check: async () => undefined,
  };
  return { remembered: rememberQueries(embedder), asked, answers };
}

test("a query is embedded once, however often and however many at once ask it", async () => {
  const { remembered, asked } = counting(true);
  const vectors = await Promise.all(["a", "a", "bb"].map((text) => remembered.embedQuery(text)));
  expect([...vectors, await remembered.embedQuery("a")].map((each) => each?.[0])).toEqual([1, 1, 2, 1]);
  expect(asked).toEqual(["a", "bb"]);
});

test("a failure is not kept", async () => {
  const { remembered, asked, answers } = counting(true);
  answers.set("a", () => Promise.reject(new Error("away")));
  await expect(remembered.embedQuery("a")).rejects.toThrow("away");
  answers.clear();
  expect(await remembered.embedQuery("a")).toEqual(new Float32Array([1]));
  expect(asked).toEqual(["a", "a"]);
});

test("where a vector costs nothing, none is kept", async () => {
  const { remembered, asked } = counting(false);
  await remembered.embedQuery("a");
  await remembered.embedQuery("a");
  expect(asked).toEqual(["a", "a"]);
});

import { describe, expect, test } from "vitest";
import { createEmbedder, embedderDescriptor } from "../../../../shared/knowledge/embedders/registry.ts";
import { embeddingFault } from "../../../../shared/knowledge/embedders/validation.ts";
import { loadConfig } from "../../../../shared/platform/config.ts";

describe("which embedder is configured", () => {
  test.each([
    [{}, "strandline-static-16-languages", 256],
    [{ TEI__URL: "http://tei" }, "Qwen/Qwen3-Embedding-0.6B", 1024],
    [{ TEI__URL: "http://tei", EMBEDDER__PROVIDER: "static" }, "strandline-static-16-languages", 256],
    [{ OPENAI__URL: "http://vllm/v1" }, "text-embedding-3-small", 1536],
    [{ OPENAI__URL: "http://vllm/v1", TEI__URL: "http://tei" }, "Qwen/Qwen3-Embedding-0.6B", 1024],
    [
      {
        OPENAI__URL: "http://v/v1",
        OPENAI__EMBEDDING_MODEL: "m",
        OPENAI__EMBEDDING_DIMENSION: "8",
        TEI__URL: "http://t",
        EMBEDDER__PROVIDER: "openai",
      },
      "m",
      8,
    ],
    [{ TEI__URL: "http://tei", TEI__EMBEDDING_MODEL: "m", TEI__EMBEDDING_DIMENSION: "8" }, "m", 8],
  ])("%j", async (env, model, dimension) => {
    const config = loadConfig(env);
    expect(embedderDescriptor(config)).toMatchObject({ model, dimension });
    expect((await createEmbedder(config)).descriptor).toEqual(embedderDescriptor(config));
  });

  test("none has no descriptor, and asking for it is a clear error", async () => {
    const config = loadConfig({ EMBEDDER__PROVIDER: "none" });
    expect(embedderDescriptor(config)).toBeNull();
    await expect(createEmbedder(config)).rejects.toMatchObject({ status: 400, code: "EMBEDDER_NOT_CONFIGURED" });
  });

  test.each([
    ["tei", "TEI__URL"],
    ["openai", "OPENAI__URL"],
  ])("%s without an address stops the start", (provider, setting) => {
    expect(() => embedderDescriptor(loadConfig({ EMBEDDER__PROVIDER: provider }))).toThrow(setting);
  });
});

describe("a vector may be stored", () => {
  test("if it has the dimension, finite numbers and a norm", () => {
    expect(embeddingFault(Float32Array.of(0.6, 0.8), 2)).toBeUndefined();
  });

  test.each([
    ["another dimension", [1, 0, 0], "3 numbers instead of 2"],
    ["a NaN", [Number.NaN, 1], "number 0 is NaN"],
    ["an infinity", [1, Number.NEGATIVE_INFINITY], "number 1 is -Infinity"],
    ["only zeros", [0, 0], "zero"],
    ["hardly any length", [0.01, 0.01], "norm"],
  ])("but not with %s", (_name, numbers, fault) => {
    expect(embeddingFault(Float32Array.from(numbers), 2)).toContain(fault);
  });
});

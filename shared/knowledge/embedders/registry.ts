/**
 * Which embedder the configuration asks for. The adapters are imported only when they are used, so that a Lambda bundle
 * that talks to a server carries no model.
 */
import type { Config } from "../../platform/config.ts";
import { ApiError } from "../../platform/errors.ts";
import type { Embedder, EmbedderDescriptor } from "./embedder.ts";
import { STATIC_DESCRIPTOR } from "./static/static-descriptor.ts";
import { teiDescriptor } from "./tei-descriptor.ts";

export type EmbedderConfig = Pick<
  Config,
  "embedder" | "embedderModelPath" | "teiUrl" | "teiModel" | "teiDimension" | "teiTimeoutS" | "embedBatchSize"
>;

/** What the rest must know of the configured model, without loading it; null where embeddings are switched off. */
export function embedderDescriptor(config: EmbedderConfig): EmbedderDescriptor | null {
  switch (embedderProvider(config)) {
    case "tei":
      return teiDescriptor(config);
    case "static":
      return STATIC_DESCRIPTOR;
    case "none":
      return null;
  }
}

/**
 * The configured embedder. The static model is loaded at its first use, not here.
 * @throws ApiError EMBEDDER_NOT_CONFIGURED where embeddings are switched off
 */
export async function createEmbedder(config: EmbedderConfig): Promise<Embedder> {
  switch (embedderProvider(config)) {
    case "tei": {
      const { createTeiEmbedder } = await import("./tei.ts");
      return createTeiEmbedder({
        url: config.teiUrl,
        descriptor: teiDescriptor(config),
        timeoutMs: config.teiTimeoutS * 1000,
        batchSize: config.embedBatchSize,
      });
    }
    case "static": {
      const { createStaticEmbedder } = await import("./static/static-embedder.ts");
      return createStaticEmbedder(config.embedderModelPath);
    }
    case "none":
      throw embedderNotConfigured();
  }
}

/** The configuration by which this model answers, where its server or its files are configured; else undefined. */
export function configOfModel<C extends EmbedderConfig>(config: C, model: string): C | undefined {
  const providers = ["static", "tei"] as const;
  return providers
    .filter((provider) => provider !== "tei" || config.teiUrl !== "")
    .map((embedder) => ({ ...config, embedder }))
    .find((other) => embedderDescriptor(other)?.model === model);
}

export function embedderNotConfigured(): ApiError {
  return new ApiError(
    400,
    "No embedder is configured, so there is no vector search: set EMBEDDER__PROVIDER " +
      "or TEI__URL, or use /api/v1/search/keyword",
    { code: "EMBEDDER_NOT_CONFIGURED" },
  );
}

function embedderProvider({ embedder, teiUrl }: EmbedderConfig): "static" | "tei" | "none" {
  const provider = embedder ?? (teiUrl === "" ? "static" : "tei");
  if (provider === "tei" && teiUrl === "") {
    throw new Error("EMBEDDER__PROVIDER is tei, but TEI__URL is empty: set it to the server's address");
  }
  return provider;
}

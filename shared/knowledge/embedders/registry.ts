/**
 * Which embedder the configuration asks for. The adapters are imported only when they are used, so that a Lambda bundle
 * that talks to a server carries no model.
 */
import type { Config } from "../../platform/config.ts";
import { ApiError } from "../../platform/errors.ts";
import type { Embedder, EmbedderDescriptor } from "./embedder.ts";
import { openAiDescriptor, teiDescriptor } from "./server-descriptors.ts";
import { STATIC_DESCRIPTOR } from "./static/static-descriptor.ts";

export type EmbedderConfig = Pick<
  Config,
  | "embedder"
  | "embedderModelPath"
  | "embedBatchSize"
  | `tei${"Url" | "ApiKey" | "Model" | "Dimension" | "TimeoutS"}`
  | `openAi${"Url" | "ApiKey" | "Model" | "Dimension" | "TimeoutS" | "BatchSize"}`
> & {
  /** The server is asked for vectors of its dimension, which is not the one that it is configured for. */
  shortened?: boolean;
};

/** What the rest must know of the configured model, without loading it; null where embeddings are switched off. */
export function embedderDescriptor(config: EmbedderConfig): EmbedderDescriptor | null {
  switch (embedderProvider(config)) {
    case "tei":
      return teiDescriptor(config);
    case "openai":
      return openAiDescriptor(config);
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
        apiKey: config.teiApiKey,
        descriptor: teiDescriptor(config),
        timeoutMs: config.teiTimeoutS * 1000,
        batchSize: config.embedBatchSize,
        shortened: config.shortened ?? false,
      });
    }
    case "openai": {
      const { createOpenAiEmbedder } = await import("./openai.ts");
      return createOpenAiEmbedder({
        url: config.openAiUrl,
        apiKey: config.openAiApiKey,
        descriptor: openAiDescriptor(config),
        timeoutMs: config.openAiTimeoutS * 1000,
        batchSize: config.openAiBatchSize,
        shortened: config.shortened ?? false,
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

/**
 * The configuration by which this model answers, where its server or its files are configured; else undefined. A server
 * of the model with another dimension is asked for vectors of this one, which many a model can shorten.
 */
export function configOfModel<C extends EmbedderConfig>(
  config: C,
  { model, dimension }: Pick<EmbedderDescriptor, "model" | "dimension">,
): C | undefined {
  const providers = ["static", "tei", "openai"] as const;
  const others = providers
    .filter((provider) => provider === "static" || urlOf(config, provider) !== "")
    .map((embedder) => ({ ...config, embedder }))
    .filter((other) => embedderDescriptor(other)?.model === model);
  const same = others.find((other) => embedderDescriptor(other)?.dimension === dimension);
  if (same !== undefined) return same;
  const server = others.find(({ embedder }) => embedder !== "static");
  return server && { ...server, teiDimension: dimension, openAiDimension: dimension, shortened: true };
}

export function embedderNotConfigured(): ApiError {
  return new ApiError(
    400,
    "No embedder is configured, so there is no vector search: set EMBEDDER__PROVIDER " +
      "or TEI__URL, or use /api/v1/search/keyword",
    { code: "EMBEDDER_NOT_CONFIGURED" },
  );
}

function embedderProvider(config: EmbedderConfig): "static" | "none" | Server {
  const servers = ["tei", "openai"] as const;
  const provider = config.embedder ?? servers.find((server) => urlOf(config, server) !== "") ?? "static";
  if ((provider === "tei" || provider === "openai") && urlOf(config, provider) === "") {
    const setting = `${provider.toUpperCase()}__URL`;
    throw new Error(`EMBEDDER__PROVIDER is ${provider}, but ${setting} is empty: set it to the server's address`);
  }
  return provider;
}

type Server = "tei" | "openai";
const urlOf = ({ teiUrl, openAiUrl }: EmbedderConfig, server: Server): string =>
  server === "tei" ? teiUrl : openAiUrl;

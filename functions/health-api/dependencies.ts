/** The checks of readiness: all that the pipeline stands on, and how each is asked. */
import { HeadBucketCommand, PutObjectCommand } from "@aws-sdk/client-s3";
import { GetQueueAttributesCommand } from "@aws-sdk/client-sqs";
import { GetCommand, PutCommand } from "@aws-sdk/lib-dynamodb";
import { createJobFlags, type JobFlags } from "../../shared/crawl/tasks/job-flags.ts";
import { createEmbedder, embedderDescriptor } from "../../shared/knowledge/embedders/registry.ts";
import { createReranker } from "../../shared/knowledge/rerankers/registry.ts";
import { checkVectors, wantsVectors } from "../../shared/knowledge/search/expected-vectors.ts";
import { createVectorStore } from "../../shared/knowledge/vector-stores/registry.ts";
import { s3Client, sqsClient } from "../../shared/platform/aws/clients.ts";
import { expiresAt } from "../../shared/platform/aws/state-table.ts";
import type { Config } from "../../shared/platform/config.ts";
import type { Sql } from "../../shared/platform/database/database.ts";
import { RetryableError } from "../../shared/platform/errors.ts";
import { type Check, databaseCheck, readOrWrite } from "../../shared/platform/observability/readiness.ts";
import { once, onceMade } from "../../shared/platform/once.ts";
import { checkCrawl4Ai } from "../../shared/render/crawl4ai.ts";
import { type ApiContainer, createApiContainer } from "../adapters/api/container.ts";

export interface HealthApi extends ApiContainer {
  checks: Readonly<Record<string, Check>>;
}

export function createHealthApi(): HealthApi {
  const container = createApiContainer("health-api");
  return { ...container, checks: createChecks(container) };
}

/** Built once per container. */
export const healthApi = once(createHealthApi);

/** Always the same, below a prefix whose objects go after a day. */
const WRITTEN_OBJECT = "media/health";
const WRITTEN_ITEM_TTL_S = 3600;

function createChecks({ config, sql, dynamo }: ApiContainer): Record<string, Check> {
  return {
    postgres: databaseCheck(sql),
    s3: readOrWrite(
      (abortSignal) => s3Client().send(new HeadBucketCommand({ Bucket: config.bucket }), { abortSignal }),
      (abortSignal) =>
        s3Client().send(new PutObjectCommand({ Bucket: config.bucket, Key: WRITTEN_OBJECT, Body: Buffer.from("ok") }), {
          abortSignal,
        }),
    ),
    sqs: (abortSignal) =>
      sqsClient().send(
        new GetQueueAttributesCommand({
          QueueUrl: `${config.queueUrlPrefix}captures`,
          AttributeNames: ["ApproximateNumberOfMessages"],
        }),
        { abortSignal },
      ),
    dynamodb: readOrWrite(
      (abortSignal) =>
        dynamo.send(new GetCommand({ TableName: config.stateTable, Key: { pk: "health" } }), { abortSignal }),
      (abortSignal) => {
        const Item = { pk: "health", expires_at: expiresAt(Date.now(), WRITTEN_ITEM_TTL_S) };
        return dynamo.send(new PutCommand({ TableName: config.stateTable, Item }), { abortSignal });
      },
    ),
    ...(config.crawl4aiUrl === ""
      ? {}
      : { crawl4ai: (signal) => checkCrawl4Ai({ url: config.crawl4aiUrl }, { signal }) }),
    ...rerankerChecks(config),
    ...embeddingChecks(config, sql, createJobFlags(dynamo, config.stateTable)),
  };
}

function rerankerChecks(config: Config): Record<string, Check> {
  const reranker = createReranker(config);
  return reranker === null ? {} : { reranker: (signal) => reranker.check(signal) };
}

/** Nothing where embeddings are switched off: that is a choice, not a fault. */
function embeddingChecks(config: Config, sql: Sql, flags: JobFlags): Record<string, Check> {
  const descriptor = embedderDescriptor(config);
  if (descriptor === null) return {};
  const embedder = onceMade(() => createEmbedder(config));
  const vectors = onceMade(() => createVectorStore(config, descriptor));
  return {
    embedder: async (signal) => (await embedder()).check(signal),
    async vectors(signal) {
      try {
        await checkVectors(sql, descriptor, await vectors(), signal);
      } catch (error) {
        // they who make them sleep where no job is unfinished
        if (error instanceof RetryableError && wantsVectors(error.code)) await flags.markActive();
        throw error;
      }
    },
  };
}

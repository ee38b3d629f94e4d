/** How each setting of the code gets its value in a deployment, see docs/guide/configuration.md. */
import { CONFIG_FIELDS } from "../shared/platform/config.ts";

/** The deployment sets it, by itself or by a setting of its own; or it means nothing there. */
const BY_DEPLOYMENT: Readonly<Record<string, string>> = {
  LOG_LEVEL: "`logLevel`",
  METRICS__NAMESPACE: "the deployment",
  DATABASE__POSTGRES_URL: "the deployment",
  DATABASE__AUTH: "the deployment",
  DATABASE__POOL_SIZE: "always 1",
  DATABASE__CONNECT_TIMEOUT_S: "the deployment",
  STORAGE__BUCKET: "the deployment",
  STATE__TABLE: "the deployment",
  QUEUES__URL_PREFIX: "the deployment",
  FETCH__USER_AGENT: "`userAgent`",
  ARCHIVE__PUBLIC: "`publicArchive`",
  ARCHIVE__CORS_ORIGINS: "`archiveCorsOrigins`",
  ARCHIVE__REPLAY_URL: "the deployment",
  API__URL: "the deployment",
  CONSOLE__PATH: "not there",
  RENDER__CHROMIUM_PATH: "the layer",
  CRAWL4AI__URL: "`crawl4aiImage`",
  CRAWL4AI__TOKEN: "the deployment",
  CRAWL4AI__CONCURRENCY: "`crawl4aiConcurrency`",
  EMBEDDER__PROVIDER: "the deployment",
  EMBEDDER__MODEL_PATH: "the layer",
  TEI__URL: "`teiUrl`",
  TEI__API_KEY: "`teiKeySecret`",
  TEI__EMBEDDING_MODEL: "`teiModel`",
  TEI__EMBEDDING_DIMENSION: "`teiDimension`",
  TEI__RERANK_URL: "`rerankUrl`",
  TEI__RERANK_API_KEY: "`rerankKeySecret`",
  OPENAI__URL: "`openAiUrl`",
  OPENAI__API_KEY: "`openAiKeySecret`",
  OPENAI__EMBEDDING_MODEL: "`openAiModel`",
  OPENAI__EMBEDDING_DIMENSION: "`openAiDimension`",
  QDRANT__URL: "`qdrantUrl`",
  VECTOR_STORE: "`vectorStore`",
  QDRANT__API_KEY: "`qdrantKeySecret`",
  VECTORS__SQLITE_PATH: "not there",
  HARVEST__CONFIG_FILE: "not there",
  HARVEST__SECRET_ARN: "the deployment",
  ZIMIT__COMMAND: "not there",
  ZIMIT__TASK_DEFINITION: "`zimitImage`",
  ZIMIT__CLUSTER: "the deployment",
  ZIMIT__SUBNETS: "the deployment",
  ZIMIT__SECURITY_GROUP: "the deployment",
  SCHEDULER__GROUP: "the deployment",
  SCHEDULER__TARGET_ARN: "the deployment",
  SCHEDULER__ROLE_ARN: "the deployment",
};

/** In words of the guide. */
export const setOnAws = (env: string): string => BY_DEPLOYMENT[env] ?? "`variables`";

/** What is wrong with the values that a deployment gives settings of the code, by the schemas of the code itself. */
export function faultsOfVariables(variables: Readonly<Record<string, string>>): string[] {
  const fields = new Map<string, (typeof CONFIG_FIELDS)[keyof typeof CONFIG_FIELDS]>(
    Object.values(CONFIG_FIELDS).map((each) => [each.env, each]),
  );
  return Object.entries(variables).flatMap(([env, value]) => {
    const by = BY_DEPLOYMENT[env];
    if (by !== undefined) return [`${env} comes from ${by} and not from here`];
    const field = fields.get(env);
    if (field === undefined) return [`${env}: no such setting`];
    const { success, error } = field.schema.safeParse(value);
    return success ? [] : [`${env}: ${error.issues.map(({ message }) => message).join("; ")}`];
  });
}

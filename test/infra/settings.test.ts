import { App } from "aws-cdk-lib";
import { expect, test } from "vitest";
import { defaultEmbedder, readSettings, SETTING_NAMES } from "../../infra/settings.ts";
import { faultsOfVariables, setOnAws } from "../../infra/variables.ts";
import { CONFIG_FIELDS } from "../../shared/platform/config.ts";

const settings = (context: Record<string, unknown>) => readSettings(new App({ context, analyticsReporting: false }));

const DIGEST = `name@sha256:${"0a".repeat(32)}`;

test("nothing has to be chosen", () => {
  expect(settings({})).toMatchObject({ name: "strandline", databaseMaxAcu: 4 });
});

test.each([
  [{}, "none"],
  [{ qdrantUrl: "http://qdrant:6333" }, "static"],
  [{ vectorStore: "pgvector" }, "static"],
  [{ vectorStore: "pgvector", teiUrl: "http://tei:80" }, "tei"],
  [{ qdrantUrl: "http://qdrant:6333", teiUrl: "http://tei:80" }, "tei"],
  [{ qdrantUrl: "http://qdrant:6333", openAiUrl: "http://vllm:8000/v1" }, "openai"],
])("texts become vectors where there is a place for them: %j", (context, embedder) => {
  expect(defaultEmbedder(settings(context))).toBe(embedder);
});

test("values of the command line are text, and win over those of cdk.json", () => {
  expect(settings({ strandline: { databaseMaxAcu: 2, name: "one" }, databaseMaxAcu: "8" })).toMatchObject({
    name: "one",
    databaseMaxAcu: 8,
  });
});

test.each([
  [{ strandline: { databaseMaxAcus: 8 } }, /databaseMaxAcus/],
  [{ name: "Not A Name" }, /name/],
  [{ qdrantUrl: "ftp://x", teiUrl: "http://tei:80" }, /qdrantUrl/],
  [{ teiUrl: "http://tei:80" }, /teiUrl needs qdrantUrl/],
  [{ openAiUrl: "http://vllm:8000/v1" }, /openAiUrl needs qdrantUrl/],
  [{ qdrantKeySecret: "q" }, /qdrantKeySecret: means nothing without qdrantUrl/],
  [{ size: "tiny" }, /size/],
  [{ openAiModel: "m" }, /openAiModel: means nothing without openAiUrl/],
  [{ teiDimension: 8 }, /teiDimension: means nothing without teiUrl/],
  [{ rerankKeySecret: "key" }, /rerankKeySecret: means nothing without rerankUrl/],
  [{ rerankUrl: "http://tei:80", rerankKeySecret: "sk 1" }, /rerankKeySecret: must be the name/],
  [{ vectorStore: "sqlite" }, /vectorStore/],
  [{ vectorStore: "qdrant" }, /vectorStore qdrant needs qdrantUrl/],
  [{ alarmEmail: "nobody" }, /alarmEmail/],
  [{ qdrantImage: DIGEST }, /qdrantImage: means nothing without awsCliImage/],
  [{ qdrantImage: "qdrant/qdrant:v1.15.4", awsCliImage: DIGEST }, /qdrantImage: must name an image by its digest/],
  [{ teiImage: DIGEST, awsCliImage: DIGEST }, /teiUrl needs qdrantUrl/],
  [{ qdrantImage: DIGEST, awsCliImage: DIGEST, qdrantUrl: "http://q:1" }, /qdrantImage: runs what qdrantUrl is for/],
  [{ qdrantImage: DIGEST, awsCliImage: DIGEST, qdrantKeySecret: "q" }, /qdrantImage: runs what qdrantKeySecret is for/],
  [{ qdrantImage: DIGEST, awsCliImage: DIGEST, qdrantInstanceType: "t3.medium" }, /qdrantInstanceType: must be/],
  [{ rerankModel: "m" }, /rerankModel: means nothing without rerankImage/],
  [{ crawl4aiImage: "unclecode/crawl4ai" }, /crawl4aiImage: must name a version/],
  [{ crawl4aiImage: "unclecode/crawl4ai:latest" }, /crawl4aiImage/],
  [{ crawl4aiImage: "unclecode/crawl4ai:0.9" }, /crawl4aiImage/],
  [{ crawl4aiImage: "unclecode/crawl4ai:basic-0.9.2" }, /crawl4aiImage/],
  [{ crawl4aiImage: "registry.example:5000/crawl4ai" }, /crawl4aiImage/],
  [{ crawl4aiImage: "unclecode/crawl4ai@sha256:12ab" }, /crawl4aiImage/],
  [{ crawl4aiImage: "unclecode/crawl4ai:0.9.2", crawl4aiConcurrency: 1 }, /crawl4aiConcurrency/],
])("%j stops the synthesis with the setting's name", (context, message) => {
  expect(() => settings(context)).toThrow(message);
});

test("settings of the code are given by their names, and judged as the code judges them", () => {
  const variables = { ACCESS__ALLOW_HOSTS: "*.corp.example", RATE_LIMIT__DEFAULT_RPS: "0.5" };
  expect(settings({ variables })).toMatchObject({ variables });
  expect(settings({ variables: JSON.stringify(variables) })).toMatchObject({ variables });
});

test.each([
  [{ NO_SUCH: "1" }, /NO_SUCH: no such setting/],
  [{ RATE_LIMIT__DEFAULT_RPS: "fast" }, /RATE_LIMIT__DEFAULT_RPS: /],
  [{ ACCESS__ALLOW_HOSTS: "*.corp.example,a b" }, /ACCESS__ALLOW_HOSTS: "a b" is neither/],
  [{ STORAGE__BUCKET: "mine" }, /STORAGE__BUCKET comes from the deployment/],
  [{ QDRANT__API_KEY: "secret" }, /QDRANT__API_KEY comes from `qdrantKeySecret`/],
  ["no JSON", /variables: /],
])("variables %j stop the synthesis", (variables, message) => {
  expect(() => settings({ variables })).toThrow(message);
});

test("every setting of the code has a way to a function on AWS, or the guide says why not", () => {
  const known = new Set(Object.values(CONFIG_FIELDS).map(({ env }) => env as string));
  const ways = [...known].map((env) => [env, setOnAws(env)] as const);
  for (const [env, way] of ways) {
    const fault = faultsOfVariables({ [env]: "" });
    expect(
      fault.some((each) => each.includes("comes from")),
      env,
    ).toBe(way !== "`variables`");
    const named = /^`(\w+)`$/.exec(way)?.[1];
    if (named !== undefined) expect(SETTING_NAMES).toContain(named);
  }
});

test.each([
  "unclecode/crawl4ai:0.9.2",
  "registry.example:5000/team/crawl4ai:v0.9.2-r1",
  `unclecode/crawl4ai@sha256:${"0a".repeat(32)}`,
  `unclecode/crawl4ai:0.9.2@sha256:${"0a".repeat(32)}`,
])("an image that names a version is taken: %s", (crawl4aiImage) => {
  expect(settings({ crawl4aiImage })).toMatchObject({ crawl4aiImage, crawl4aiConcurrency: 6 });
});

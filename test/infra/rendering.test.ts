/**
 * The deployment with Crawl4AI, Qdrant and servers of models: Crawl4AI is reached by the render function, and by nobody
 * else; functions that embed have the model that comes as a layer, too.
 */
import { AwsSolutionsChecks } from "cdk-nag";
import { afterAll, beforeAll, expect, test } from "vitest";
import { TOPOLOGY } from "../../infra/topology.ts";
import { EMBEDDING_MODEL_LAYER, EMBEDDING_MODEL_PATH } from "../../layers/embedding-model/embedding-model-layer.ts";
import { type Resource, type Synthesis, synthesise } from "./synthesis.ts";

let synthesis: Synthesis;
beforeAll(async () => {
  synthesis = await synthesise({
    crawl4aiImage: "unclecode/crawl4ai:0.9.2",
    crawl4aiConcurrency: 12,
    qdrantUrl: "http://qdrant:6333",
    qdrantKeySecret: "qdrant/key",
    variables: { ACCESS__ALLOW_HOSTS: "*.corp.example" },
    openAiUrl: "http://models:8000/v1",
    openAiModel: "BAAI/bge-m3",
    openAiDimension: 1024,
    openAiKeySecret: "models/key",
    rerankUrl: "http://reranker:80",
    rerankKeySecret: "reranker/key",
  });
}, 480_000);
afterAll(() => synthesis.remove());

const functionOf = (name: string): Resource => {
  const about = TOPOLOGY.functions.find((spec) => spec.name === name)?.about;
  const found = synthesis.resources("AWS::Lambda::Function").find((each) => each.Properties["Description"] === about);
  return found ?? expect.fail(`no function ${name}`);
};
const inStack = (type: string): Resource[] =>
  synthesis.resources(type).filter(({ stack }) => stack === "strandline-rendering");

test("the functions that embed have the model as a layer, and know where; no other has", () => {
  const layers = synthesis
    .resources("AWS::Lambda::LayerVersion")
    .filter(({ Properties }) => Properties["Description"] === EMBEDDING_MODEL_LAYER.about);
  const ids = layers.map(({ logicalId }) => logicalId);
  for (const { name, grants } of TOPOLOGY.functions) {
    const { Environment, Layers } = functionOf(name).Properties;
    const told = JSON.stringify(Environment).includes(`"EMBEDDER__MODEL_PATH":"${EMBEDDING_MODEL_PATH}"`);
    const has = ids.some((id) => JSON.stringify(Layers ?? []).includes(id));
    expect({ name, told, has }).toEqual({ name, told: grants.embedder === true, has: grants.embedder === true });
  }
});

test("functions are told of the servers of models, and of their keys only where they ask them", () => {
  const secret = (name: string) => expect.stringMatching(`^{{resolve:secretsmanager:${name}:SecretString.*}}$`);
  for (const { name, grants } of TOPOLOGY.functions) {
    const { Variables } = functionOf(name).Properties["Environment"] as { Variables: Record<string, unknown> };
    const told = Object.entries(Variables).filter(([key]) => /^(OPENAI|TEI|EMBEDDER__PROVIDER)/.test(key));
    expect({ name, ...Object.fromEntries(told) }).toEqual({
      name,
      EMBEDDER__PROVIDER: "openai",
      OPENAI__URL: "http://models:8000/v1",
      OPENAI__EMBEDDING_MODEL: "BAAI/bge-m3",
      OPENAI__EMBEDDING_DIMENSION: "1024",
      ...(grants.embedder && { OPENAI__API_KEY: secret("models/key") }),
      ...(grants.reranker && {
        TEI__RERANK_URL: "http://reranker:80",
        TEI__RERANK_API_KEY: secret("reranker/key"),
      }),
    });
  }
});

test("only the render function is told of it, and only its security group gets through", () => {
  const told = TOPOLOGY.functions.filter(({ name }) =>
    JSON.stringify(functionOf(name).Properties["Environment"]).includes("CRAWL4AI__URL"),
  );
  expect(told.map(({ name }) => name)).toEqual(["render"]);
  const rules = inStack("AWS::EC2::SecurityGroupIngress").filter(({ Properties }) => Properties["FromPort"] === 11235);
  expect(rules).toHaveLength(1);
  expect(JSON.stringify(rules[0]?.Properties["SourceSecurityGroupId"])).toContain("Callers");
  expect(JSON.stringify(functionOf("render").Properties["VpcConfig"])).toMatch(/Callers/);
  for (const { Properties } of inStack("AWS::EC2::SecurityGroup")) {
    expect(Properties["SecurityGroupIngress"]).toBeUndefined();
  }
});

test("the queue of pages to render gives the service no more at once than it bears", async () => {
  const atOnce = (from: Synthesis) =>
    from
      .resources("AWS::Lambda::EventSourceMapping")
      .filter(({ Properties }) => /queuerender[0-9A-F]{8}/.test(JSON.stringify(Properties["EventSourceArn"])))
      .map(({ Properties }) => Properties["ScalingConfig"]);
  expect(atOnce(synthesis)).toEqual([{ MaximumConcurrency: 12 }]);
});

test("the service and the render function have the same token, and nobody else has it", () => {
  const [secret] = inStack("AWS::SecretsManager::Secret");
  const [task] = inStack("AWS::ECS::TaskDefinition");
  expect(secret).toBeDefined();
  expect(JSON.stringify(task?.Properties["ContainerDefinitions"])).toMatch(
    new RegExp(`"CRAWL4AI_API_TOKEN","ValueFrom":\\{"Ref":"${secret?.logicalId}"`),
  );
  const told = TOPOLOGY.functions.filter(({ name }) =>
    JSON.stringify(functionOf(name).Properties["Environment"]).includes("CRAWL4AI__TOKEN"),
  );
  expect(told.map(({ name }) => name)).toEqual(["render"]);
});

test("it shares no network with the database, and its task has no permissions of its own", () => {
  expect(inStack("AWS::EC2::VPC")).toHaveLength(1);
  expect(JSON.stringify(functionOf("render").Properties["VpcConfig"])).not.toMatch(/network/);
  const [task] = inStack("AWS::ECS::TaskDefinition");
  const roleId = /"([^"]*TaskRole[^"]*)"/.exec(JSON.stringify(task?.Properties["TaskRoleArn"]))?.[1];
  const policies = inStack("AWS::IAM::Policy").filter(({ Properties }) =>
    JSON.stringify(Properties["Roles"]).includes(`"${roleId}"`),
  );
  expect(roleId).toBeDefined();
  expect(policies).toEqual([]);
});

test("settings of the code reach every function, and Qdrant's key those that ask it", () => {
  for (const { name, grants } of TOPOLOGY.functions) {
    const { Variables } = functionOf(name).Properties["Environment"] as { Variables: Record<string, unknown> };
    expect(Variables["ACCESS__ALLOW_HOSTS"], name).toBe("*.corp.example");
    expect(Variables["QDRANT__API_KEY"] !== undefined, name).toBe(grants.vectors === true);
  }
});

test("a small account has nothing reserved, and two of a function at once for each queue", async () => {
  const small = await synthesise({ size: "small", databaseMaxAcu: 1 });
  const properties = (type: string) => small.resources(type).map(({ Properties }) => Properties);
  const reserved = properties("AWS::Lambda::Function").map((each) => each["ReservedConcurrentExecutions"]);
  expect(new Set(reserved)).toEqual(new Set([undefined]));
  const mappings = properties("AWS::Lambda::EventSourceMapping").map((each) => each["ScalingConfig"]);
  expect(mappings.length).toBeGreaterThan(0);
  expect(mappings).toEqual(mappings.map(() => ({ MaximumConcurrency: 2 })));
  await small.remove();
});

test("a database that takes fewer connections than the functions may open stops the synthesis", async () => {
  await expect(synthesise({ databaseMaxAcu: 1 })).rejects.toThrow(/databaseMaxAcu.* at least \d/);
});

test("the other functions stay where they were", () => {
  for (const { name, network } of TOPOLOGY.functions.filter((spec) => spec.name !== "render")) {
    expect(functionOf(name).Properties["VpcConfig"] !== undefined, name).toBe(network === "private");
  }
});

test("cdk-nag has no finding that nobody acknowledged", () => {
  const { violations } = new AwsSolutionsChecks(synthesis.app).validateScope(synthesis.app);
  expect(violations).toEqual([]);
});

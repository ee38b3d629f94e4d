/**
 * The deployment with servers of models and vectors of its own: what they cost is there only while it is asked for,
 * what they hold outlives their machines, and only functions that ask them get through to them.
 */
import { AwsSolutionsChecks } from "cdk-nag";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { EMBED_QUEUES } from "../../infra/topology/queues.ts";
import type { FunctionSpec } from "../../infra/topology/spec.ts";
import { TOPOLOGY } from "../../infra/topology.ts";
import { type Resource, type Synthesis, synthesise } from "./synthesis.ts";

const digest = (name: string) => `${name}@sha256:${"a".repeat(64)}`;
const IMAGES = {
  qdrantImage: digest("qdrant/qdrant"),
  teiImage: digest("ghcr.io/huggingface/text-embeddings-inference"),
  rerankImage: digest("ghcr.io/huggingface/text-embeddings-inference"),
  awsCliImage: digest("public.ecr.aws/aws-cli/aws-cli"),
};
const STACK = "strandline-inference";

let gpu: Synthesis;
let cpu: Synthesis;
let off: Synthesis;
beforeAll(async () => {
  gpu = await synthesise({ ...IMAGES, teiCompute: "gpu" });
  cpu = await synthesise({ ...IMAGES, teiIdle: 1, qdrantDiskGib: 200 });
  off = await synthesise();
}, 480_000);
afterAll(() => Promise.all([gpu, cpu, off].map((each) => each.remove())));

const inStack = (synthesis: Synthesis, type: string): Resource[] =>
  synthesis.resources(type).filter(({ stack }) => stack === STACK);
const only = (synthesis: Synthesis, type: string): Resource => {
  const [found, ...others] = inStack(synthesis, type);
  expect({ type, others }).toEqual({ type, others: [] });
  return found ?? expect.fail(`no ${type}`);
};
const functionOf = (synthesis: Synthesis, { about, name }: FunctionSpec): Resource =>
  synthesis.resources("AWS::Lambda::Function").find(({ Properties }) => Properties["Description"] === about) ??
  expect.fail(`no function ${name}`);
const serviceOf = (synthesis: Synthesis, name: string): Resource =>
  inStack(synthesis, "AWS::ECS::Service").find(({ logicalId }) => logicalId.startsWith(name)) ??
  expect.fail(`no service ${name}`);

interface Container {
  Name: string;
  Image: string;
  Essential: boolean;
  Command?: unknown[];
  Environment?: { Name: string }[];
  Secrets?: { Name: string; ValueFrom: unknown }[];
  DependsOn?: unknown;
  ResourceRequirements?: unknown;
}
const containersOf = (synthesis: Synthesis, name: string): Record<string, Container> => {
  const task = inStack(synthesis, "AWS::ECS::TaskDefinition").find(({ logicalId }) => logicalId.startsWith(name));
  const all = (task?.Properties["ContainerDefinitions"] ?? expect.fail(`no task ${name}`)) as Container[];
  return Object.fromEntries(all.map((each) => [each.Name, each]));
};

describe("where nothing is asked for", () => {
  test("an empty stack is there, so that what ran before is removed, once those who asked it have let go", () => {
    const stack = off.app.synth().stacks.find(({ stackName }) => stackName === STACK);
    expect(off.resources().filter((each) => each.stack === STACK)).toMatchObject([
      { Type: "AWS::CloudFormation::WaitConditionHandle" },
    ]);
    expect(stack?.dependencies.map(({ id }) => id)).toEqual(
      expect.arrayContaining(["strandline-pipeline", "strandline-api"]),
    );
  });

  test("network and data are the same with and without it, but for how long snapshots are kept", () => {
    const those = (synthesis: Synthesis, stack: string) =>
      synthesis.resources().filter((each) => each.stack === stack && each.Type !== "AWS::S3::Bucket");
    for (const stack of ["strandline-network", "strandline-data"]) expect(those(gpu, stack)).toEqual(those(off, stack));
    expect(JSON.stringify(off.resources())).not.toMatch(/qdrant|models\.internal/i);
  });
});

describe("who gets through", () => {
  const groupsOf = (spec: FunctionSpec): string => {
    const { VpcConfig } = functionOf(gpu, spec).Properties;
    return JSON.stringify((VpcConfig as { SecurityGroupIds: unknown } | undefined)?.SecurityGroupIds ?? []);
  };

  test.each(TOPOLOGY.functions.map((spec) => [spec.name, spec] as const))(
    "%s: who asks, and nobody else",
    (_, spec) => {
      const { embedder = false, vectors = false, reranker = false } = spec.grants;
      const groups = groupsOf(spec);
      expect({
        embedder: groups.includes("EmbedderCallers"),
        vectors: groups.includes("VectorsCallers"),
        reranker: groups.includes("RerankerCallers"),
      }).toEqual({ embedder, vectors, reranker });
      const { Variables } = functionOf(gpu, spec).Properties["Environment"] as { Variables: Record<string, unknown> };
      expect({
        embedder: Variables["TEI__API_KEY"] !== undefined,
        vectors: Variables["QDRANT__API_KEY"] !== undefined,
        reranker: Variables["TEI__RERANK_API_KEY"] !== undefined,
      }).toEqual({ embedder, vectors, reranker });
      expect(Variables).toMatchObject({
        EMBEDDER__PROVIDER: "tei",
        TEI__URL: "http://tei.strandline-models.internal:8080",
        QDRANT__URL: "http://qdrant.strandline-models.internal:6333",
      });
    },
  );

  test("each server lets in the group of its callers, on its port, and nothing else is let in", () => {
    const rules = inStack(gpu, "AWS::EC2::SecurityGroupIngress").map(({ Properties }) => [
      Properties["FromPort"],
      Properties["ToPort"],
      /(Embedder|Vectors|Reranker)Callers/.exec(JSON.stringify(Properties["SourceSecurityGroupId"]))?.[1],
    ]);
    expect(rules.toSorted()).toEqual([
      [6333, 6333, "Vectors"],
      [8080, 8080, "Embedder"],
      [8080, 8080, "Reranker"],
    ]);
    for (const { Properties } of inStack(gpu, "AWS::EC2::SecurityGroup"))
      expect(Properties["SecurityGroupIngress"]).toBeUndefined();
  });

  test("private functions stay in subnets without a route to the internet", () => {
    const routes = gpu.resources("AWS::EC2::Route");
    expect(routes.length).toBeGreaterThan(0);
    expect(routes.map(({ stack }) => stack)).toEqual(routes.map(() => STACK));
    expect(gpu.resources("AWS::EC2::NatGateway")).toEqual([]);
    for (const { Properties } of inStack(gpu, "AWS::EC2::Subnet"))
      expect(Properties["MapPublicIpOnLaunch"]).toBe(false);
  });
});

describe("servers of models", () => {
  test.each(["Embedder", "Reranker"])(
    "%s: by digest, with a model from the bucket and its key from a secret",
    (name) => {
      const { model, tei, ...others } = containersOf(gpu, name);
      expect(others).toEqual({});
      expect(tei?.Image).toBe(IMAGES.teiImage);
      expect(model?.Image).toBe(IMAGES.awsCliImage);
      expect(model?.Essential).toBe(false);
      expect(tei?.DependsOn).toEqual([{ Condition: "SUCCESS", ContainerName: "model" }]);
      expect(tei?.Secrets?.map((each) => each.Name)).toEqual(["API_KEY"]);
      expect(JSON.stringify(model?.Command)).toContain(
        name === "Embedder" ? "/models/Qwen/Qwen3-Embedding-0.6B/" : "/models/BAAI/bge-reranker-v2-m3/",
      );
    },
  );

  test("on a GPU it has that to itself, and the machine is there only while a task is", () => {
    expect(containersOf(gpu, "Embedder")["tei"]?.ResourceRequirements).toEqual([{ Type: "GPU", Value: "1" }]);
    const group = inStack(gpu, "AWS::AutoScaling::AutoScalingGroup").find(({ logicalId }) => /Gpu/.test(logicalId));
    expect(group?.Properties).toMatchObject({ MinSize: "0", MaxSize: "1" });
    expect(group?.Properties["DesiredCapacity"]).toBeUndefined();
    const providers = inStack(gpu, "AWS::ECS::CapacityProvider").map(
      ({ Properties }) => Properties["AutoScalingGroupProvider"],
    );
    expect(providers).toContainEqual(
      expect.objectContaining({ ManagedScaling: expect.objectContaining({ Status: "ENABLED", TargetCapacity: 100 }) }),
    );
    expect(serviceOf(gpu, "Embedder").Properties["CapacityProviderStrategy"]).toHaveLength(1);
  });

  test("without one it is a task of Fargate on Arm, and no machine with a GPU is there", () => {
    expect(serviceOf(cpu, "Embedder").Properties["LaunchType"]).toBe("FARGATE");
    const groups = inStack(cpu, "AWS::AutoScaling::AutoScalingGroup").map(({ logicalId }) => logicalId);
    expect(groups.filter((each) => /Gpu/.test(each))).toEqual([]);
  });

  test("it is started by what waits in the queues of texts to embed, and stopped when nothing has for long", () => {
    const limits = (synthesis: Synthesis) => {
      const { MinCapacity, MaxCapacity } = only(synthesis, "AWS::ApplicationAutoScaling::ScalableTarget").Properties;
      return [serviceOf(synthesis, "Embedder").Properties["DesiredCount"], MinCapacity, MaxCapacity];
    };
    expect([limits(gpu), limits(cpu)]).toEqual([
      [0, 0, 1],
      [1, 1, 1],
    ]);
    const alarms = inStack(gpu, "AWS::CloudWatch::Alarm").map(({ Properties }) => Properties);
    for (const alarm of alarms) {
      const watched = JSON.stringify(alarm["Metrics"]);
      for (const queue of EMBED_QUEUES) {
        // what is being tried, or waits to be tried again, is work as well
        for (const state of ["Visible", "NotVisible"])
          expect(watched).toMatch(new RegExp(`strandline-${queue}".*ApproximateNumberOfMessages${state}"`));
      }
    }
    const told = alarms.map((alarm) => [alarm["ComparisonOperator"], alarm["Threshold"], alarm["EvaluationPeriods"]]);
    expect(told.toSorted()).toEqual([
      ["GreaterThanOrEqualToThreshold", 1, 1],
      ["LessThanThreshold", 1, 15],
    ]);
    const exact = inStack(gpu, "AWS::ApplicationAutoScaling::ScalingPolicy").map(({ Properties }) => {
      const { AdjustmentType, StepAdjustments } = Properties["StepScalingPolicyConfiguration"] as Record<
        string,
        unknown
      >;
      return [AdjustmentType, (StepAdjustments as { ScalingAdjustment: number }[])[0]?.ScalingAdjustment];
    });
    expect(exact.toSorted()).toEqual([
      ["ExactCapacity", 0],
      ["ExactCapacity", 1],
    ]);
  });
});

describe("Qdrant", () => {
  test("keeps its points on a disk of its own, encrypted, of which a snapshot stays", () => {
    const disk = only(cpu, "AWS::EC2::Volume");
    expect(disk.Properties).toMatchObject({ Encrypted: true, Size: 200, VolumeType: "gp3" });
    expect(disk.DeletionPolicy).toBe("Snapshot");
    // the machine may go: it finds the disk again by its id
    const template = inStack(cpu, "AWS::EC2::LaunchTemplate").find(({ logicalId }) => /Qdrant/.test(logicalId));
    const data = JSON.stringify(template?.Properties["LaunchTemplateData"]);
    expect(data).toContain("aws ec2 attach-volume");
    expect(data).toContain(`{"Ref":"${disk.logicalId}"}`);
    expect(data).not.toMatch(/mkfs\S* (-\w+ )*-f/);
  });

  test("one machine in the zone of the disk, of which the old one ends before the new one begins", () => {
    const groups = inStack(cpu, "AWS::AutoScaling::AutoScalingGroup");
    expect(groups.map(({ Properties }) => [Properties["MinSize"], Properties["MaxSize"]])).toEqual([["1", "1"]]);
    expect(groups[0]?.Properties["VPCZoneIdentifier"]).toHaveLength(1);
    const { DeploymentConfiguration, DesiredCount } = serviceOf(cpu, "Qdrant").Properties;
    expect(DesiredCount).toBe(1);
    expect(DeploymentConfiguration).toMatchObject({ MaximumPercent: 100, MinimumHealthyPercent: 0 });
    expect(containersOf(cpu, "QdrantTask")["qdrant"]?.Secrets?.map(({ Name }) => Name)).toEqual([
      "QDRANT__SERVICE__API_KEY",
    ]);
  });

  test("its snapshots go into the bucket every day, by a task that may write nothing else, and end after two weeks", () => {
    expect(only(cpu, "AWS::Scheduler::Schedule").Properties["ScheduleExpression"]).toBe("rate(1 day)");
    expect(JSON.stringify(only(cpu, "AWS::Scheduler::Schedule").Properties["Target"])).toContain(
      '"AssignPublicIp":"ENABLED"',
    );
    const { snapshots } = containersOf(cpu, "Snapshots");
    expect(snapshots?.Image).toBe(IMAGES.awsCliImage);
    const statements = inStack(cpu, "AWS::IAM::Policy")
      .filter(({ logicalId }) => /^SnapshotsTaskTaskRole/.test(logicalId))
      .flatMap(
        ({ Properties }) => (Properties["PolicyDocument"] as { Statement: Record<string, unknown>[] }).Statement,
      );
    expect(statements.map(({ Action, Resource }) => [Action, JSON.stringify(Resource).includes("/qdrant/*")])).toEqual([
      [["s3:PutObject", "s3:GetObject", "s3:AbortMultipartUpload"], true],
      ["s3:ListBucket", false],
    ]);
    const rules = (synthesis: Synthesis) =>
      synthesis.resources("AWS::S3::Bucket").flatMap(({ Properties }) => {
        const { Rules = [] } = (Properties["LifecycleConfiguration"] ?? {}) as { Rules?: Record<string, unknown>[] };
        return Rules.flatMap(({ Prefix, ExpirationInDays }) => (Prefix === "qdrant/" ? [ExpirationInDays] : []));
      });
    expect([rules(cpu), rules(off)]).toEqual([[14], []]);
  });
});

test("keys are made by the deployment, one for each server, and stand in no environment of a task", () => {
  expect(inStack(gpu, "AWS::SecretsManager::Secret")).toHaveLength(3);
  for (const { Properties } of inStack(gpu, "AWS::ECS::TaskDefinition"))
    for (const { Environment = [] } of Properties["ContainerDefinitions"] as Container[])
      expect(Environment.filter(({ Name }) => /KEY/.test(Name))).toEqual([]);
});

test("each may be had alone", async () => {
  const { qdrantImage, awsCliImage, rerankImage } = IMAGES;
  const alone = await synthesise({ qdrantImage, awsCliImage });
  expect(inStack(alone, "AWS::ECS::Service").map(({ logicalId }) => logicalId.slice(0, 6))).toEqual(["Qdrant"]);
  await alone.remove();
  const reranker = await synthesise({ rerankImage, awsCliImage });
  expect(inStack(reranker, "AWS::EC2::Volume")).toEqual([]);
  expect(inStack(reranker, "AWS::ECS::Service").map(({ logicalId }) => logicalId.slice(0, 8))).toEqual(["Reranker"]);
  await reranker.remove();
});

test("cdk-nag has no finding that nobody acknowledged", () => {
  for (const { app } of [gpu, cpu]) expect(new AwsSolutionsChecks(app).validateScope(app).violations).toEqual([]);
});

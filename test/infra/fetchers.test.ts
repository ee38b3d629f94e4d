/** The deployment whose pages tasks of Fargate fetch: no function is woken for them, and rights are the same. */
import { AwsSolutionsChecks } from "cdk-nag";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Resource, type Synthesis, synthesise } from "./synthesis.ts";

const BASE = `node@sha256:${"a".repeat(64)}`;

let synthesis: Synthesis;
beforeAll(async () => {
  synthesis = await synthesise({ fetchers: "fargate", fetcherBase: BASE, fetchersMost: 8 });
}, 480_000);
afterAll(() => synthesis.remove());

const only = (type: string): Resource => {
  const [found, ...others] = synthesis.resources(type);
  expect({ type, others }).toEqual({ type, others: [] });
  return found ?? expect.fail(`no ${type}`);
};

test("nothing wakes the function, and the service asks the queues with its rights", () => {
  const fetch = synthesis
    .resources("AWS::Lambda::Function")
    .find(({ Properties }) => Properties["FunctionName"] === "strandline-fetch");
  const woken = synthesis
    .resources("AWS::Lambda::EventSourceMapping")
    .map(({ Properties }) => Properties["FunctionName"]);
  expect(woken.length).toBeGreaterThan(0);
  expect(woken).not.toContainEqual({ Ref: fetch?.logicalId });
  const { Properties: task } = only("AWS::ECS::TaskDefinition");
  expect(task["TaskRoleArn"]).toEqual(fetch?.Properties["Role"]);
  const { "Fn::GetAtt": [role] = [] } = task["TaskRoleArn"] as { "Fn::GetAtt"?: string[] };
  const { Properties } = synthesis.resources("AWS::IAM::Role").find(({ logicalId }) => logicalId === role) as Resource;
  expect(JSON.stringify(Properties["AssumeRolePolicyDocument"])).toContain("ecs-tasks.amazonaws.com");
  const [container, ...others] = task["ContainerDefinitions"] as Record<string, unknown>[];
  expect(others).toEqual([]);
  expect(container).toMatchObject({ StopTimeout: 120, ReadonlyRootFilesystem: true });
  const variables = container?.["Environment"] as { Name: string }[];
  const { Variables } = (fetch?.Properties["Environment"] ?? expect.fail("no function")) as { Variables: object };
  expect(variables.map(({ Name }) => Name).toSorted()).toEqual([...Object.keys(Variables), "AWS_REGION"].toSorted());
});

test("the service is on Spot and Arm, given up where it does not start, and reached by nobody", () => {
  expect(only("AWS::ECS::TaskDefinition").Properties).toMatchObject({
    Cpu: "512",
    Memory: "1024",
    RuntimePlatform: { CpuArchitecture: "ARM64" },
  });
  expect(only("AWS::ECS::Service").Properties).toMatchObject({
    CapacityProviderStrategy: [{ CapacityProvider: "FARGATE_SPOT", Weight: 1 }],
    DeploymentConfiguration: { DeploymentCircuitBreaker: { Enable: true, Rollback: true } },
    DesiredCount: 0,
  });
  expect(synthesis.resources("AWS::EC2::NatGateway")).toEqual([]);
  const groups = synthesis
    .resources("AWS::EC2::SecurityGroup")
    .filter(({ logicalId }) => logicalId.startsWith("Fetchers"));
  expect(groups.map(({ Properties }) => Properties["SecurityGroupIngress"])).toEqual([undefined]);
});

test("it has as many tasks as the queues ask for, none while they are empty, and no more than it may", () => {
  expect(only("AWS::ApplicationAutoScaling::ScalableTarget").Properties).toMatchObject({
    MinCapacity: 0,
    MaxCapacity: 8,
  });
  const policies = synthesis.resources("AWS::ApplicationAutoScaling::ScalingPolicy");
  const steps = policies.map(({ Properties }) => {
    const { StepAdjustments, AdjustmentType } = Properties["StepScalingPolicyConfiguration"] as {
      AdjustmentType: string;
      StepAdjustments: { ScalingAdjustment: number; MetricIntervalLowerBound?: number }[];
    };
    expect(AdjustmentType).toBe("ExactCapacity");
    return StepAdjustments.map((each) => [each.MetricIntervalLowerBound, each.ScalingAdjustment]);
  });
  expect(steps.toSorted((a, b) => b.length - a.length)).toEqual([
    [
      [0, 1],
      [60, 2],
      [120, 4],
      [240, 8],
    ],
    [[undefined, 0]],
  ]);
  const asked = JSON.stringify(
    synthesis.resources("AWS::CloudWatch::Alarm").filter(({ Properties }) => Properties["Metrics"]),
  );
  for (const queue of ["fetch-high", "fetch-normal", "fetch-low", "fetch-shared"])
    expect(asked).toContain(`strandline-${queue}`);
});

test("cdk-nag has no finding that nobody acknowledged", () => {
  const { violations } = new AwsSolutionsChecks(synthesis.app).validateScope(synthesis.app);
  expect(violations).toEqual([]);
});

test("it needs an image to run in, which means nothing without it", async () => {
  await expect(synthesise({ fetchers: "fargate" })).rejects.toThrow("fargate needs fetcherBase");
  await expect(synthesise({ fetcherBase: BASE })).rejects.toThrow("means nothing without fetchers fargate");
});

/** The deployment with zimit: its tasks may do what they must, and the functions that order them no more. */
import { AwsSolutionsChecks } from "cdk-nag";
import { afterAll, beforeAll, expect, test } from "vitest";
import { TOPOLOGY } from "../../infra/topology.ts";
import { type Resource, type Synthesis, synthesise } from "./synthesis.ts";

const DIGEST = "a".repeat(64);
const IMAGE = `ghcr.io/openzim/zimit@sha256:${DIGEST}`;

let synthesis: Synthesis;
beforeAll(async () => {
  synthesis = await synthesise({ zimitImage: IMAGE, zimitUploaderBase: `node@sha256:${DIGEST}`, zimitDiskGib: 60 });
}, 480_000);
afterAll(() => synthesis.remove());

const only = (type: string): Resource => {
  const [found, ...others] = synthesis.resources(type).filter(({ stack }) => stack === "strandline-engines");
  expect({ type, others }).toEqual({ type, others: [] });
  return found ?? expect.fail(`no ${type}`);
};
interface Container {
  Name: string;
  Essential: boolean;
  StopTimeout: number;
  Image: unknown;
  Command: string[];
  Secrets?: unknown;
  MountPoints: { ContainerPath: string }[];
}
const containers = (): Record<string, Container> =>
  Object.fromEntries(
    (only("AWS::ECS::TaskDefinition").Properties["ContainerDefinitions"] as Container[]).map((each) => [
      each.Name,
      each,
    ]),
  );

test("a task has zimit by its digest, and beside it what uploads", () => {
  const { zimit, uploader, ...others } = containers();
  expect(others).toEqual({});
  expect(zimit?.Image).toBe(IMAGE);
  // the task ends with the uploader, so that it has the time to upload
  expect([zimit?.Essential, uploader?.Essential]).toEqual([false, true]);
  for (const each of [zimit, uploader]) {
    expect(each?.StopTimeout).toBe(120);
    expect(each?.MountPoints).toMatchObject([{ ContainerPath: "/output" }]);
    expect(each?.Secrets).toBeUndefined();
  }
  expect(zimit?.Command.slice(0, 2)).toEqual(["bash", "-c"]);
  expect(only("AWS::ECS::TaskDefinition").Properties).toMatchObject({ EphemeralStorage: { SizeInGiB: 60 } });
  expect(only("AWS::ECS::ClusterCapacityProviderAssociations").Properties["CapacityProviders"]).toEqual([
    "FARGATE",
    "FARGATE_SPOT",
  ]);
});

interface Statement {
  Action: string | string[];
  Resource: unknown;
  Condition?: Record<string, unknown>;
}
function statementsOf(matches: (logicalId: string) => boolean): Statement[] {
  return synthesis
    .resources("AWS::IAM::Policy")
    .filter(({ Properties }) => matches(JSON.stringify(Properties["Roles"])))
    .flatMap(({ Properties }) => (Properties["PolicyDocument"] as { Statement: Statement[] }).Statement);
}

test("a task writes what engines leave and reads what it was ordered, and that is all", () => {
  const statements = statementsOf((roles) => roles.includes("TaskTaskRole"));
  const said = statements.map(({ Action, Resource }) => [Action, JSON.stringify(Resource).match(/"\/[^"]*"/g)]);
  expect(said).toEqual([
    [
      ["s3:PutObject", "s3:AbortMultipartUpload"],
      ['"/archive-jobs/*"', '"/warcs/engines/*"'],
    ],
    ["s3:GetObject", ['"/archive-jobs/*"']],
  ]);
});

test("one function starts and stops tasks, of this cluster alone, and hands on the two roles of them", () => {
  const ecs = synthesis
    .resources("AWS::IAM::Policy")
    .filter(({ Properties }) => JSON.stringify(Properties).includes('"ecs:'));
  expect(ecs.map(({ logicalId }) => logicalId.startsWith("functionenginetasks"))).toEqual([true]);
  const statements = statementsOf((roles) => roles.includes("functionenginetasks"));
  const of = (action: string) => statements.find(({ Action }) => [Action].flat().includes(action));
  for (const action of ["ecs:RunTask", "ecs:StopTask", "ecs:ListTasks"])
    expect(of(action)?.Condition).toEqual({ ArnEquals: { "ecs:cluster": expect.anything() } });
  expect(of("iam:PassRole")?.Condition).toEqual({
    StringEquals: { "iam:PassedToService": "ecs-tasks.amazonaws.com" },
  });
  expect([of("iam:PassRole")?.Resource].flat()).toHaveLength(2);
  const functions = synthesis.resources("AWS::Lambda::Function");
  for (const { name, about, grants } of TOPOLOGY.functions) {
    const found = functions.find(({ Properties }) => Properties["Description"] === about);
    const told = JSON.stringify(found?.Properties["Environment"]).includes("ZIMIT__TASK_DEFINITION");
    expect([name, told]).toEqual([name, grants.tasks === true || grants.bucket === "engine"]);
  }
});

test("events of this cluster's tasks, when they run and when they have stopped, go to their queue", () => {
  const [rule, ...others] = synthesis.resources("AWS::Events::Rule");
  expect(others).toEqual([]);
  expect(rule?.Properties["EventPattern"]).toMatchObject({
    source: ["aws.ecs"],
    "detail-type": ["ECS Task State Change"],
    detail: { clusterArn: [expect.anything()], lastStatus: ["RUNNING", "STOPPED"] },
  });
  expect(JSON.stringify(rule?.Properties["Targets"])).toContain("queueengineevents");
});

test("nobody reaches the tasks, and they have no NAT to pay for", () => {
  const groups = synthesis
    .resources("AWS::EC2::SecurityGroup")
    .filter(({ stack, Properties }) => stack === "strandline-engines" && Properties["SecurityGroupIngress"]);
  expect(groups).toEqual([]);
  const { stack } = only("AWS::ECS::Cluster");
  expect(synthesis.resources("AWS::EC2::NatGateway").filter((each) => each.stack === stack)).toEqual([]);
});

test("cdk-nag has no finding that nobody acknowledged", () => {
  const { violations } = new AwsSolutionsChecks(synthesis.app).validateScope(synthesis.app);
  expect(violations).toEqual([]);
});

import { join } from "node:path";
import {
  ConflictException,
  CreateScheduleCommand,
  type CreateScheduleCommandInput,
  DeleteScheduleCommand,
  GetScheduleCommand,
  ListSchedulesCommand,
  ResourceNotFoundException,
  SchedulerClient,
  UpdateScheduleCommand,
  ValidationException,
} from "@aws-sdk/client-scheduler";
import { expect, onTestFinished, test } from "vitest";
import { newCredentials } from "../../../../local/front/credentials.ts";
import { createSignatureCheck } from "../../../../local/front/signature.ts";
import type { SchedulerClock } from "../../../../local/scheduler/alarm-clock.ts";
import { startScheduler } from "../../../../local/scheduler/scheduler-server.ts";
import { testFolder } from "../../../services/index.ts";
import { travellingClock } from "../../../services/scheduler-clock.ts";

const ARN = "arn:aws:lambda:us-east-1:000000000000:function:crawl";
const BASE = {
  Name: "daily",
  ScheduleExpression: "rate(1 day)",
  FlexibleTimeWindow: { Mode: "OFF" },
  Target: {
    Arn: ARN,
    RoleArn: "arn:aws:iam::000000000000:role/scheduler",
    Input: '{"at":"<aws.scheduler.scheduled-time>"}',
  },
} as const satisfies CreateScheduleCommandInput;

async function scheduler(file?: string, clock?: SchedulerClock) {
  const fired: { arn: string; event: unknown }[] = [];
  const calls: string[] = [];
  const credentials = newCredentials();
  const server = await startScheduler({
    signatures: createSignatureCheck(credentials),
    ...(file === undefined ? {} : { file }),
    ...(clock === undefined ? {} : { clock }),
    groups: ["strandline"],
    fire: (arn, event) => fired.push({ arn, event }),
    onCall: (operation) => calls.push(operation),
  });
  onTestFinished(() => server.stop().catch(() => {}));
  const client = new SchedulerClient({
    region: "us-east-1",
    endpoint: server.url,
    credentials,
  });
  return { client, fired, calls, server };
}

/** An `at()` expression some ms from now; whole seconds are all it can say. */
const soon = (ms: number) => `at(${new Date(Date.now() + ms).toISOString().slice(0, 19)})`;

test("a schedule is created, read, changed, listed and deleted through the SDK", async () => {
  const { client, calls } = await scheduler();
  const { ScheduleArn } = await client.send(new CreateScheduleCommand({ ...BASE, GroupName: "strandline" }));
  expect(ScheduleArn).toBe("arn:aws:scheduler:us-east-1:000000000000:schedule/strandline/daily");
  const GroupName = "strandline";
  expect(await client.send(new GetScheduleCommand({ Name: "daily", GroupName }))).toMatchObject({
    ...BASE,
    Arn: ScheduleArn,
    State: "ENABLED",
    ScheduleExpressionTimezone: "UTC",
    CreationDate: expect.any(Date),
  });
  await client.send(new UpdateScheduleCommand({ ...BASE, GroupName, State: "DISABLED" }));
  const { Schedules } = await client.send(new ListSchedulesCommand({ GroupName, NamePrefix: "da", State: "DISABLED" }));
  expect(Schedules).toMatchObject([{ Name: "daily", State: "DISABLED", Target: { Arn: ARN } }]);
  await client.send(new DeleteScheduleCommand({ Name: "daily", GroupName }));
  await expect(client.send(new GetScheduleCommand({ Name: "daily", GroupName }))).rejects.toThrow(
    ResourceNotFoundException,
  );
  expect(calls).toEqual(["CreateSchedule", "GetSchedule", "UpdateSchedule", "ListSchedules", "DeleteSchedule"]);
});

test("a list comes in pages", async () => {
  const { client } = await scheduler();
  for (const Name of ["a", "b", "c"]) await client.send(new CreateScheduleCommand({ ...BASE, Name }));
  const first = await client.send(new ListSchedulesCommand({ MaxResults: 2 }));
  const second = await client.send(new ListSchedulesCommand({ MaxResults: 2, NextToken: first.NextToken }));
  expect([first, second].map(({ Schedules }) => Schedules?.map(({ Name }) => Name))).toEqual([["a", "b"], ["c"]]);
  expect(second.NextToken).toBeUndefined();
});

test.for([
  ["a name twice", { ...BASE }, ConflictException, "Schedule daily already exists."],
  [
    "an expression that is none",
    { ...BASE, Name: "x", ScheduleExpression: "rate(0 days)" },
    ValidationException,
    "Invalid Schedule Expression rate(0 days).",
  ],
  [
    "a cron with both days",
    { ...BASE, Name: "x", ScheduleExpression: "cron(0 1 * * * *)" },
    ValidationException,
    "Invalid Schedule Expression cron(0 1 * * * *).",
  ],
  [
    "an unknown time zone",
    { ...BASE, Name: "x", ScheduleExpressionTimezone: "Mars/Olympus" },
    ValidationException,
    "Invalid ScheduleExpressionTimezone Mars/Olympus.",
  ],
  [
    "a name with a blank",
    { ...BASE, Name: "a b" },
    ValidationException,
    "Member must satisfy regular expression pattern",
  ],
  [
    "an unknown group",
    { ...BASE, GroupName: "nobody" },
    ResourceNotFoundException,
    "Schedule group nobody does not exist.",
  ],
  [
    "a window without its length",
    { ...BASE, Name: "x", FlexibleTimeWindow: { Mode: "FLEXIBLE" } },
    ValidationException,
    "MaximumWindowInMinutes must be provided",
  ],
  [
    "a role that is none",
    { ...BASE, Name: "x", Target: { Arn: ARN, RoleArn: "admin" } },
    ValidationException,
    "'target.roleArn'",
  ],
] as const)("it is refused as AWS refuses it: %s", async ([, input, kind, message]) => {
  const { client } = await scheduler();
  await client.send(new CreateScheduleCommand(BASE));
  const error = await client.send(new CreateScheduleCommand(input)).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(kind);
  expect((error as Error).message).toContain(message);
});

test("at() fires once, fills in its time and can delete itself", async () => {
  const { client, fired } = await scheduler();
  // created too late it would never be due
  const ScheduleExpression = soon(5_000);
  await client.send(new CreateScheduleCommand({ ...BASE, ScheduleExpression, ActionAfterCompletion: "DELETE" }));
  await expect.poll(() => fired).toEqual([{ arn: ARN, event: { at: `${ScheduleExpression.slice(3, -1)}Z` } }]);
  await expect(client.send(new GetScheduleCommand({ Name: "daily" }))).rejects.toThrow(ResourceNotFoundException);
});

test("a schedule survives a restart, and one that came due meanwhile is late rather than lost", async () => {
  const file = join(await testFolder(), "schedules.json");
  const before = await scheduler(file);
  const ScheduleExpression = soon(5_000);
  await before.client.send(new CreateScheduleCommand({ ...BASE, ScheduleExpression }));
  await before.server.stop();
  await expect.poll(() => Date.now()).toBeGreaterThan(Date.parse(`${ScheduleExpression.slice(3, -1)}Z`));
  const after = await scheduler(file);
  await expect.poll(() => after.fired.length).toBe(1);
  await after.server.stop();
  const later = await scheduler(file);
  expect((await later.client.send(new GetScheduleCommand({ Name: "daily" }))).Name).toBe("daily");
  expect([before.fired.length, later.fired.length]).toEqual([0, 0]);
});

test("a schedule that repeats is late once for all that came due while nothing ran, if not for too long", async () => {
  const file = join(await testFolder(), "schedules.json");
  const before = await scheduler(file, travellingClock("2027-03-01T12:01:00Z"));
  const minutes = { ...BASE, ScheduleExpression: "cron(0/5 * * * ? *)" };
  await before.client.send(new CreateScheduleCommand(minutes));
  const Target = { ...BASE.Target, RetryPolicy: { MaximumEventAgeInSeconds: 60 } };
  await before.client.send(new CreateScheduleCommand({ ...minutes, Name: "brief", Target }));
  await before.client.send(new CreateScheduleCommand({ ...minutes, Name: "paused", State: "DISABLED" }));
  await before.server.stop();
  const clock = travellingClock("2027-03-01T18:03:00Z");
  const after = await scheduler(file, clock);
  expect(after.fired).toEqual([{ arn: ARN, event: { at: "2027-03-01T18:00:00Z" } }]);
  clock.passTo("2027-03-01T18:05:00Z");
  expect(after.fired.slice(1)).toEqual(Array(2).fill({ arn: ARN, event: { at: "2027-03-01T18:05:00Z" } }));
});

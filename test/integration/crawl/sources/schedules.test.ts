/**
 * Monitored sources from the API to EventBridge Scheduler and back: the local scheduler, by its HTTP protocol and with
 * a clock of the test's own, and every message delivered twice.
 */
import { DeleteScheduleCommand, ListSchedulesCommand, SchedulerClient } from "@aws-sdk/client-scheduler";
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished } from "vitest";
import { api } from "../../../../functions/sources-api/handler.ts";
import { newCredentials } from "../../../../local/front/credentials.ts";
import { createSignatureCheck } from "../../../../local/front/signature.ts";
import { startScheduler } from "../../../../local/scheduler/scheduler-server.ts";
import { createUrlInspector } from "../../../../shared/access/url-inspection.ts";
import {
  keepSchema,
  RUNS_QUEUE,
  runsMessageSchema,
  SCHEDULES_QUEUE,
} from "../../../../shared/crawl/schedules/messages.ts";
import { createScheduleKeeper, type ScheduleKeeper } from "../../../../shared/crawl/schedules/schedule-keeper.ts";
import { fireSource } from "../../../../shared/crawl/sources/fire-source.ts";
import { noteKept, reconcileSchedules, retellSchedules } from "../../../../shared/crawl/sources/schedule-source.ts";
import { createJobFlags } from "../../../../shared/crawl/tasks/job-flags.ts";
import { uuidv7 } from "../../../../shared/platform/ids.ts";
import { createLogger } from "../../../../shared/platform/observability/log.ts";
import { callApi } from "../../../services/api.ts";
import { memoryQueues } from "../../../services/memory-queues.ts";
import { type TravellingClock, travellingClock } from "../../../services/scheduler-clock.ts";
import { type ApiSetup, setUpApi } from "../../functions/api-setup.ts";

const GROUP = "sources";
const TARGET = "arn:aws:sqs:us-east-1:000000000000:source-runs";
const path = "/api/v1/sources";

let setup: ApiSetup;
beforeAll(async () => {
  setup = await setUpApi();
});
afterAll(() => setup.close());
beforeEach(async () => {
  const { sql } = setup.database;
  await sql`delete from frontier`;
  await sql`delete from jobs`;
  await sql`delete from crawl_sources`;
});

interface World {
  clock: TravellingClock;
  client: SchedulerClient;
  keeper: ScheduleKeeper;
  /** Sends what rows still ask for, and works off all messages, each of them twice. */
  settle(): Promise<void>;
  names(): Promise<string[]>;
  /** Compares both sides, and mends. */
  reconcile(): Promise<void>;
  queues: ReturnType<typeof memoryQueues>;
}

async function world(start: string): Promise<World> {
  const clock = travellingClock(start);
  const queues = memoryQueues();
  const credentials = newCredentials();
  const server = await startScheduler({
    signatures: createSignatureCheck(credentials),
    groups: [GROUP],
    clock,
    onCall: () => {},
    fire: (arn, event) => {
      expect(arn).toBe(TARGET);
      void queues.send(RUNS_QUEUE, event);
    },
  });
  onTestFinished(() => server.stop());
  const client = new SchedulerClient({ region: "us-east-1", endpoint: server.url, credentials });
  const place = { group: GROUP, targetArn: TARGET, roleArn: "arn:aws:iam::000000000000:role/scheduler" };
  // a list must not be older than the rows, whose times are the database's
  const keeper = createScheduleKeeper(client, place, () => Date.now() + 1_000);
  const { sql } = setup.database;
  const log = createLogger({ function: "test" }, "error");
  const flags = createJobFlags(setup.aws.dynamo, setup.aws.stateTable);
  const all = { sql, queues, log, flags, inspector: createUrlInspector([]) };

  const work = async (queue: string, body: unknown) => {
    if (queue === SCHEDULES_QUEUE) {
      const { keep } = keepSchema.parse(body);
      const { source_id, version } = keep;
      if (await keeper.keep(keep)) await queues.send(RUNS_QUEUE, { kept: { source_id, version } });
    } else if (queue === RUNS_QUEUE) {
      const message = runsMessageSchema.parse(body);
      if ("kept" in message) await noteKept(sql, message.kept);
      else if ("listed" in message) await reconcileSchedules(all, message.listed);
      else await fireSource(all, message.fire, clock.now());
    }
  };
  const settle = async () => {
    // what the API sent went to the queue of its own
    await sql`update crawl_sources set schedule_told_at = '-infinity' where schedule_pending`;
    await retellSchedules(all);
    const waiting = () => [SCHEDULES_QUEUE, RUNS_QUEUE].find((queue) => queues.waiting(queue) > 0);
    for (let queue = waiting(); queue !== undefined; queue = waiting()) {
      for (const message of await queues.receive(queue)) {
        await Promise.all([work(queue, message), work(queue, message)]);
      }
    }
  };
  return {
    clock,
    client,
    keeper,
    queues,
    settle,
    async names() {
      const { Schedules = [] } = await client.send(new ListSchedulesCommand({ GroupName: GROUP }));
      return Schedules.map(({ Name = "" }) => Name);
    },
    async reconcile() {
      for (const listed of await keeper.list()) await queues.send(RUNS_QUEUE, { listed });
      await settle();
    },
  };
}

const create = async (json: object): Promise<string> => {
  const { status, body } = await callApi(api, {
    path,
    key: setup.keys.write,
    json: { name: "s", type: "page", url: "https://a.example/", ...json },
  });
  expect(status).toBe(201);
  return body.id;
};
const change = (id: string, json: object) =>
  callApi(api, {
    method: "PUT",
    path: `${path}/${id}`,
    key: setup.keys.write,
    json: { name: "s", type: "page", url: "https://a.example/", ...json },
  });
const remove = (id: string) => callApi(api, { method: "DELETE", path: `${path}/${id}`, key: setup.keys.write });
const jobs = async (): Promise<number> => {
  const [row] = await setup.database.sql<{ count: number }[]>`select count(*)::int as count from jobs`;
  return row?.count ?? 0;
};
const finish = async () => {
  await setup.database.sql`delete from frontier`;
  await setup.database.sql`
    update jobs set status = 'completed', stop_reason = 'completed', skipped = discovered, open_urls = 0,
      completed_at = now() where status <> 'completed'`;
};
const row = async (id: string) => (await setup.database.sql`select * from crawl_sources where id = ${id}`)[0];

it("fires once for each time of its schedule, though every message comes twice", async () => {
  const { clock, settle } = await world("2027-03-01T12:01:00Z");
  await create({ schedule_cron: "*/5 * * * *" });
  await settle();
  for (const [index, minute] of ["05", "10", "15", "20"].entries()) {
    clock.passTo(`2027-03-01T12:${minute}:30Z`);
    await settle();
    expect(await jobs()).toBe(index + 1);
    await finish();
  }
});

it("begins no job while the one before runs, says so, and goes on with the next time after it", async () => {
  const { clock, settle } = await world("2027-03-01T12:01:00Z");
  const id = await create({ schedule_cron: "*/5 * * * *" });
  await settle();
  for (const minute of ["05", "10", "15"]) {
    clock.passTo(`2027-03-01T12:${minute}:30Z`);
    await settle();
  }
  expect(await jobs()).toBe(1);
  expect((await row(id))?.["last_error"]).toMatch(/^RUN_UNFINISHED: Job .* still crawls this source/);
  await finish();
  clock.passTo("2027-03-01T12:20:30Z");
  await settle();
  expect(await jobs()).toBe(2);
  expect((await row(id))?.["last_error"]).toBeNull();
});

it("does not fire while it is paused, nor after it is deleted", async () => {
  const { clock, settle, names } = await world("2027-03-01T12:01:00Z");
  const id = await create({ schedule_cron: "*/5 * * * *" });
  await settle();
  expect(await names()).toEqual([`${id}.1.0`]);
  await change(id, { schedule_cron: "*/5 * * * *", is_active: false });
  // it fired before its schedule was gone
  clock.passTo("2027-03-01T12:05:30Z");
  await settle();
  clock.passTo("2027-03-01T12:30:30Z");
  await settle();
  expect([await jobs(), await names()]).toEqual([0, []]);
  await change(id, { schedule_cron: "*/5 * * * *" });
  await settle();
  expect(await names()).toEqual([`${id}.3.0`]);
  await remove(id);
  clock.passTo("2027-03-01T12:35:30Z");
  await settle();
  clock.passTo("2027-03-01T13:30:30Z");
  await settle();
  expect([await jobs(), await names(), await row(id)]).toEqual([0, [], undefined]);
});

it("begins one job for ten firings that nobody could hear", async () => {
  const { clock, settle } = await world("2027-03-01T12:01:00Z");
  await create({ schedule_cron: "*/5 * * * *" });
  await settle();
  // they wait in their queue
  clock.passTo("2027-03-01T12:50:30Z");
  await settle();
  await finish();
  await settle();
  expect(await jobs()).toBe(1);
  // nothing fired meanwhile
  clock.leapTo("2027-03-01T18:03:00Z");
  await settle();
  expect(await jobs()).toBe(2);
  await finish();
  clock.passTo("2027-03-01T18:05:30Z");
  await settle();
  expect(await jobs()).toBe(3);
});

it("fires at its new times alone once they change, and keeps its schedule where they do not", async () => {
  const { clock, settle, names } = await world("2027-03-01T12:01:00Z");
  const id = await create({ schedule_cron: "0 * * * *" });
  await settle();
  await change(id, { name: "other", schedule_cron: "0 * * * *" });
  await settle();
  expect(await names()).toEqual([`${id}.1.0`]);
  await change(id, { schedule_cron: "30 * * * *" });
  // news of the change is late
  clock.passTo("2027-03-01T13:00:30Z");
  await settle();
  expect([await jobs(), await names()]).toEqual([0, [`${id}.2.0`]]);
  clock.passTo("2027-03-01T13:59:30Z");
  await settle();
  expect(await jobs()).toBe(1);
});

it("leaves the schedules of the latest version, in whatever order its changes become known", async () => {
  const { keeper, names } = await world("2027-03-01T12:01:00Z");
  const source_id = uuidv7();
  const keep = (version: number, minutes: number[]) =>
    keeper.keep({
      source_id,
      version,
      expressions: minutes.map((each) => `cron(${each} * * * ? *)`),
      time_zone: "UTC",
    });
  expect(await keep(3, [3, 4])).toBe(true);
  expect(await keep(2, [2])).toBe(false);
  expect(await names()).toEqual([`${source_id}.3.0`, `${source_id}.3.1`]);
  await Promise.all([keep(5, [5]), keep(4, [4]), keep(5, [5])]);
  expect(await names()).toEqual([`${source_id}.5.0`]);
  expect(await keep(6, [])).toBe(true);
  expect(await names()).toEqual([]);
});

it("begins one job where both schedules of either day fire at once", async () => {
  const { clock, settle, names } = await world("2027-02-28T12:00:00Z");
  // the 1st of March 2027 is a Monday
  const id = await create({ schedule_cron: "0 0 1 * MON" });
  await settle();
  expect(await names()).toEqual([`${id}.1.0`, `${id}.1.1`]);
  clock.passTo("2027-03-01T00:30:00Z");
  await settle();
  await finish();
  expect(await jobs()).toBe(1);
  clock.passTo("2027-03-08T00:30:00Z");
  await settle();
  expect(await jobs()).toBe(2);
});

it.each([
  // 02:30 is skipped on the 28th of March, and comes twice on the 31st of October
  ["30 2 * * *", "2027-03-27T12:00:00Z", "2027-03-29T12:00:00Z", ["2027-03-29T00:30:00.000Z"]],
  [
    "30 2 * * *",
    "2027-10-30T12:00:00Z",
    "2027-11-01T12:00:00Z",
    ["2027-10-31T00:30:00.000Z", "2027-11-01T01:30:00.000Z"],
  ],
])("fires as clocks in Berlin show it: %s after %s", async (schedule_cron, start, end, expected) => {
  const { clock, settle } = await world(start);
  const id = await create({ schedule_cron, time_zone: "Europe/Berlin" });
  await settle();
  const fired: string[] = [];
  for (let time = Date.parse(start); time <= Date.parse(end); time += 30 * 60_000) {
    clock.passTo(new Date(time).toISOString());
    const before = await jobs();
    await settle();
    if ((await jobs()) > before) fired.push((await row(id))?.["last_fired_at"].toISOString());
    await finish();
  }
  expect(fired).toEqual(expected);
});

it("mends what differs: a schedule that is missing, one that nobody knows, one that the database is behind of", async () => {
  const { client, keeper, names, reconcile, settle } = await world("2027-03-01T12:01:00Z");
  const lost = await create({ schedule_cron: "0 * * * *" });
  const right = await create({ schedule_cron: "1 * * * *" });
  const behind = await create({ schedule_cron: "2 * * * *" });
  await settle();
  await client.send(new DeleteScheduleCommand({ GroupName: GROUP, Name: `${lost}.1.0` }));
  const stranger = uuidv7();
  await keeper.keep({ source_id: stranger, version: 9, expressions: ["cron(0 0 * * ? *)"], time_zone: "UTC" });
  await keeper.keep({ source_id: behind, version: 7, expressions: ["cron(9 0 * * ? *)"], time_zone: "UTC" });
  await reconcile();
  expect(new Set(await names())).toEqual(new Set([`${lost}.1.0`, `${right}.1.0`, `${behind}.8.0`]));
  expect(await row(behind)).toMatchObject({ version: 8, schedule_pending: false });
  await reconcile();
  expect(await names()).toHaveLength(3);
});

it("says why a firing began no job, and has done with it", async () => {
  const { clock, settle } = await world("2027-03-01T12:01:00Z");
  const id = await create({ schedule_cron: "0 * * * *" });
  await settle();
  await setup.database.sql`update crawl_sources set url = 'http://10.0.0.1/' where id = ${id}`;
  clock.passTo("2027-03-01T13:00:30Z");
  await settle();
  expect(await jobs()).toBe(0);
  expect((await row(id))?.["last_error"]).toMatch(/^URL_BLOCKED: /);
});

it("visits a source more often where it changes, and less where it does not, as far as its schedule lets it", async () => {
  const { clock, settle } = await world("2027-03-01T00:30:00Z");
  const id = await create({ schedule_cron: "0 * * * *", revisit: { shortest_hours: 2, longest_hours: 8 } });
  await settle();
  const visits: number[] = [];
  // pages change in the first ten hours only; times are hours of the day
  for (let hour = 1; hour < 40; hour++) {
    clock.passTo(new Date(Date.parse("2027-03-01T00:10:00Z") + hour * 3_600_000).toISOString());
    const before = await jobs();
    await settle();
    if ((await jobs()) === before) continue;
    visits.push(hour);
    await finish();
    await visitedPage(hour > 1 && hour < 10 ? "updated" : "unchanged");
  }
  // 2, 2, 2, 2, 2, then 3, 4.5, 6.75 and 8 hours, at the next full hour
  expect(visits).toEqual([1, 3, 5, 7, 9, 11, 14, 19, 26, 34]);
  const { body } = await callApi(api, { path: `${path}/${id}`, key: setup.keys.read });
  expect(body.revisit_hours).toBe(8);
  const [first, second] = body.next_runs.map((time: string) => Date.parse(time));
  expect(second - first).toBe(8 * 3_600_000);
  expect(await change(id, { revisit: { longest_hours: 8 } })).toMatchObject({ status: 400 });
});

/** As if the latest job had crawled a page an hour ago, and that had been compared. */
async function visitedPage(kind: "updated" | "unchanged"): Promise<void> {
  const { sql } = setup.database;
  const [job] = await sql<{ id: string }[]>`
    update jobs set crawled = 1, skipped = discovered - 1, completed_at = now() - interval '1 hour'
    where id = (select id from jobs order by id desc limit 1) returning id`;
  const jobId = job?.id ?? expect.fail("no job");
  const [capture] = await sql<{ id: number }[]>`
    insert into captures (job_id, url, url_hash, final_url, final_url_hash, depth, status_code, headers, fetched_at,
      fetch_time_ms, payload_bytes, truncated, not_modified, batch_key, batch_index)
    values (${jobId}, 'https://a.example/', '', 'https://a.example/', '', 0, 200, '[]', now(), 0, 0, false, false, '', 0)
    returning id`;
  await sql`
    insert into page_changes (id, kind, page, host, to_capture_id, to_job_id, to_at, summary, high_noise, diff_truncated, version)
    values (${capture?.id ?? 0}, ${kind}, 'a.example/', 'a.example', ${capture?.id ?? 0}, ${jobId}, now(), '', false, false, 1)`;
}

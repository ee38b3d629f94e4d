/** EventBridge Scheduler's five schedule calls, by its REST JSON protocol, on loopback. */
import { errorAnswer, type ServiceCall, type ServiceFront, startServiceFront } from "../front/service-front.ts";
import type { SignatureCheck } from "../front/signature.ts";
import { type Fire, type SchedulerClock, startAlarmClock } from "./alarm-clock.ts";
import { openScheduleStore, type ScheduleStore } from "./schedule-store.ts";
import { readName, readSettings, type Schedule, SchedulerError, scheduleArn } from "./schedules.ts";

export interface SchedulerOptions {
  /** Taken if it is free; 0: any free one. */
  port?: number;
  /** Where schedules are kept; in memory where it is not given. */
  file?: string;
  /** Of the callers. */
  signatures: SignatureCheck;
  /** Groups that exist besides `default`. */
  groups: readonly string[];
  fire: Fire;
  onCall(operation: string): void;
  /** The machine's own where it is not given. */
  clock?: SchedulerClock;
}

interface Call {
  method: string;
  /** Of the schedule; undefined for a listing. */
  name: string | undefined;
  query: URLSearchParams;
  body: unknown;
}

type Answer = [operation: string, body: Record<string, unknown>];

const LARGEST_REQUEST_BYTES = 1024 * 1024;
const PAGE = 100;

export async function startScheduler({
  port = 0,
  file,
  signatures,
  groups,
  fire,
  onCall,
  clock,
}: SchedulerOptions): Promise<ServiceFront> {
  const store = openScheduleStore(file);
  const alarms = startAlarmClock(store, fire, clock);
  const known = new Set(["default", ...groups]);

  const answer = (call: Call): Answer => {
    if (call.name === undefined) return ["ListSchedules", list(store, call.query, known)];
    const name = readName(call.name);
    if (call.method === "POST" || call.method === "PUT") {
      const settings = readSettings(call.body);
      assertGroup(settings.GroupName, known);
      const present = store.get(settings.GroupName, name);
      if (call.method === "POST" && present)
        throw new SchedulerError("ConflictException", `Schedule ${name} already exists.`);
      if (call.method === "PUT" && !present) throw missing(name);
      const now = (clock?.now() ?? Date.now()) / 1000;
      const schedule = {
        ...settings,
        Name: name,
        CreationDate: present?.CreationDate ?? now,
        LastModificationDate: now,
      };
      store.put(schedule);
      alarms.update(schedule);
      return [call.method === "POST" ? "CreateSchedule" : "UpdateSchedule", { ScheduleArn: scheduleArn(schedule) }];
    }
    const group = readName(call.query.get("groupName") ?? "default", "groupName");
    assertGroup(group, known);
    const schedule = store.get(group, name);
    if (schedule === undefined) throw missing(name);
    if (call.method === "GET") return ["GetSchedule", describe(schedule)];
    store.delete(schedule);
    alarms.remove(schedule);
    return ["DeleteSchedule", {}];
  };

  const front = await startServiceFront({
    port,
    service: "scheduler",
    signatures,
    largestBodyBytes: LARGEST_REQUEST_BYTES,
    async answer(request) {
      try {
        const [operation, body] = answer(readCall(request));
        onCall(operation);
        return { status: 200, headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
      } catch (error) {
        if (!(error instanceof SchedulerError)) throw error;
        return errorAnswer(error.status, error.type, error.message);
      }
    },
  });
  return {
    ...front,
    async stop() {
      alarms.stop();
      await front.stop();
    },
  };
}

function readCall({ method, url, body }: ServiceCall): Call {
  const { pathname, searchParams: query } = new URL(url, "http://127.0.0.1");
  // what needs decoding is no valid name anyway
  const [, name] = /^\/schedules(?:\/([^/]+))?$/.exec(pathname) ?? [undefined, ""];
  if (name === "" || !["GET", "POST", "PUT", "DELETE"].includes(method) || (name === undefined && method !== "GET")) {
    throw new SchedulerError("ValidationException", `The local scheduler does not know ${method} ${pathname}`);
  }
  const text = body.toString("utf8");
  try {
    return { method, name, query, body: text === "" ? {} : JSON.parse(text) };
  } catch {
    throw new SchedulerError("ValidationException", "The request body is not JSON.");
  }
}

function list(store: ScheduleStore, query: URLSearchParams, known: ReadonlySet<string>): Record<string, unknown> {
  const group = query.get("ScheduleGroup");
  if (group !== null) assertGroup(group, known);
  const prefix = query.get("NamePrefix") ?? "";
  const state = query.get("State");
  const limit = Number(query.get("MaxResults") ?? PAGE);
  if (!Number.isInteger(limit) || limit < 1 || limit > PAGE) {
    throw new SchedulerError("ValidationException", `MaxResults must be between 1 and ${PAGE}.`);
  }
  const after = query.get("NextToken");
  const found = store
    .all()
    .filter((each) => (group === null || each.GroupName === group) && each.Name.startsWith(prefix))
    .filter((each) => (state === null || each.State === state) && (after === null || scheduleArn(each) > after));
  const page = found.slice(0, limit);
  const last = page.at(-1);
  return {
    Schedules: page.map((each) => ({
      Arn: scheduleArn(each),
      GroupName: each.GroupName,
      Name: each.Name,
      State: each.State,
      CreationDate: each.CreationDate,
      LastModificationDate: each.LastModificationDate,
      Target: { Arn: each.Target.Arn },
    })),
    ...(found.length > page.length && last ? { NextToken: scheduleArn(last) } : {}),
  };
}

function describe({ firedAt: _, ...schedule }: Schedule): Record<string, unknown> {
  return { Arn: scheduleArn(schedule), ...schedule };
}

function assertGroup(group: string, known: ReadonlySet<string>): void {
  if (!known.has(group))
    throw new SchedulerError("ResourceNotFoundException", `Schedule group ${group} does not exist.`);
}

const missing = (name: string) => new SchedulerError("ResourceNotFoundException", `Schedule ${name} does not exist.`);

/**
 * Keeps the schedules of sources at EventBridge Scheduler. A schedule never changes: its name holds the version of its
 * source, so a change makes others and deletes those of earlier versions. Whatever the order in which changes become
 * known, and however often, those of the latest version are left.
 */
import {
  ConflictException,
  CreateScheduleCommand,
  DeleteScheduleCommand,
  ListSchedulesCommand,
  ResourceNotFoundException,
  type SchedulerClient,
} from "@aws-sdk/client-scheduler";
import type { KeepSchedules, ListedSchedules } from "./messages.ts";

export interface SchedulePlace {
  /** Holds nothing but schedules of sources. */
  group: string;
  /** ARN of the queue that is told of firings. */
  targetArn: string;
  /** ARN of the role with which EventBridge sends to it. */
  roleArn: string;
}

export interface ScheduleKeeper {
  /**
   * Idempotent.
   * @returns false where schedules of a later version were met, which stay
   */
  keep(order: KeepSchedules): Promise<boolean>;
  /** Everything there is, by ranges of sources that follow each other without a gap. */
  list(): Promise<ListedSchedules[]>;
}

interface Named {
  name: string;
  sourceId: string;
  version: number;
}

/** A firing that finds its queue away is worth something for so long: the longest that AWS takes. */
const RETRIED_FOR_S = 86_400;
/** In one message. */
const LISTED_SOURCES = 500;

export function createScheduleKeeper(
  client: SchedulerClient,
  place: SchedulePlace,
  now: () => number = Date.now,
): ScheduleKeeper {
  const { group: GroupName } = place;

  const schedulesOf = async (prefix?: string): Promise<Named[]> => {
    const found: Named[] = [];
    let next: string | undefined;
    do {
      const { Schedules = [], NextToken } = await client.send(
        new ListSchedulesCommand({ GroupName, NamePrefix: prefix, NextToken: next, MaxResults: 100 }),
      );
      found.push(...Schedules.flatMap(({ Name = "" }) => readName(Name) ?? []));
      next = NextToken;
    } while (next !== undefined);
    return found;
  };

  const create = async ({ source_id, version, time_zone }: KeepSchedules, part: number, expression: string) => {
    const firing = { source_id, version, at: "<aws.scheduler.scheduled-time>" };
    const command = new CreateScheduleCommand({
      GroupName,
      Name: `${source_id}.${version}.${part}`,
      Description: "Strandline: a monitored source",
      ScheduleExpression: expression,
      ScheduleExpressionTimezone: time_zone,
      FlexibleTimeWindow: { Mode: "OFF" },
      Target: {
        Arn: place.targetArn,
        RoleArn: place.roleArn,
        Input: JSON.stringify({ fire: firing }),
        RetryPolicy: { MaximumEventAgeInSeconds: RETRIED_FOR_S, MaximumRetryAttempts: 185 },
      },
    });
    await unless(ConflictException, client.send(command));
  };

  const removeBefore = async (sourceId: string, version: number): Promise<number> => {
    const all = await schedulesOf(`${sourceId}.`);
    for (const { name: Name } of all.filter((each) => each.version < version)) {
      await unless(ResourceNotFoundException, client.send(new DeleteScheduleCommand({ GroupName, Name })));
    }
    return Math.max(0, ...all.map((each) => each.version));
  };

  return {
    async keep(order) {
      const { source_id, version, expressions } = order;
      const present = await schedulesOf(`${source_id}.`);
      if (present.some((each) => each.version > version)) return false;
      for (const [part, expression] of expressions.entries()) await create(order, part, expression);
      // after its own are there, so that of two versions at once the earlier one cannot be left
      return (await removeBefore(source_id, expressions.length === 0 ? version + 1 : version)) <= version;
    },
    async list() {
      const at = new Date(now()).toISOString();
      return rangesOf(await schedulesOf(), at);
    },
  };
}

function readName(name: string): Named | undefined {
  const [, sourceId, version] = /^([0-9a-f-]{36})\.(\d{1,10})\.\d+$/.exec(name) ?? [];
  return sourceId === undefined ? undefined : { name, sourceId, version: Number(version) };
}

function rangesOf(schedules: readonly Named[], at: string): ListedSchedules[] {
  const latest = new Map<string, { version: number; schedules: number }>();
  for (const { sourceId, version } of schedules) {
    const known = latest.get(sourceId);
    if (known === undefined || known.version < version) latest.set(sourceId, { version, schedules: 1 });
    else if (known.version === version) known.schedules++;
  }
  const sources = [...latest]
    .map(([source_id, each]) => ({ source_id, ...each }))
    .sort((one, other) => (one.source_id < other.source_id ? -1 : 1));
  const ranges: ListedSchedules[] = [];
  for (let first = 0; first === 0 || first < sources.length; first += LISTED_SOURCES) {
    const slice = sources.slice(first, first + LISTED_SOURCES);
    const isLast = first + LISTED_SOURCES >= sources.length;
    ranges.push({
      after: sources[first - 1]?.source_id ?? null,
      upto: isLast ? null : (slice.at(-1)?.source_id ?? null),
      at,
      sources: slice,
    });
  }
  return ranges;
}

async function unless(kind: abstract new (...parameters: never[]) => Error, call: Promise<unknown>): Promise<void> {
  try {
    await call;
  } catch (error) {
    if (!(error instanceof kind)) throw error;
  }
}

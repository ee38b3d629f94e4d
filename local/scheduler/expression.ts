/**
 * The three kinds of schedule expression of EventBridge Scheduler: `rate(5 minutes)`, `cron(0 10 * * ? *)`,
 * `at(2030-01-31T10:00:00)`. https://docs.aws.amazon.com/scheduler/latest/UserGuide/schedule-types.html
 */
import { Cron } from "croner";

export interface Timetable {
  /** Runs once only. */
  once: boolean;
  /** The first time after `after`; undefined where there is none. Unix times in ms. */
  next(after: number, bounds: { start: number; end?: number }): number | undefined;
}

const UNIT_MS = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const;

/** @throws RangeError where the expression or the time zone is none */
export function parseExpression(expression: string, timeZone = "UTC"): Timetable {
  assertTimeZone(timeZone);
  const [, kind, content = ""] = /^(rate|cron|at)\((.*)\)$/.exec(expression) ?? [];
  if (kind === "rate") return parseRate(expression, content);
  if (kind === "cron") return parseCron(expression, content, timeZone);
  if (kind === "at") return parseAt(expression, content, timeZone);
  throw invalid(expression);
}

function parseRate(expression: string, content: string): Timetable {
  const [, count, unit, plural] = /^([1-9]\d*) (minute|hour|day)(s?)$/.exec(content) ?? [];
  if (count === undefined || (count === "1") !== (plural === "")) throw invalid(expression);
  const step = Number(count) * UNIT_MS[unit as keyof typeof UNIT_MS];
  return {
    once: false,
    next(after, { start, end }) {
      const time = after < start ? start : start + (Math.floor((after - start) / step) + 1) * step;
      return within(time, end);
    },
  };
}

function parseCron(expression: string, content: string, timezone: string): Timetable {
  const fields = content.trim().split(/\s+/);
  const [, , day, , weekday] = fields;
  // AWS: exactly one of the two days is `?`
  if (fields.length !== 6 || (day === "?") === (weekday === "?")) throw invalid(expression);
  let cron: Cron;
  try {
    cron = new Cron(`0 ${fields.join(" ")}`, {
      mode: "7-part",
      timezone,
      paused: true,
      domAndDow: true,
      // AWS counts SUN as 1 and writes steps as 0/15
      alternativeWeekdays: true,
      sloppyRanges: true,
    });
  } catch {
    throw invalid(expression);
  }
  return {
    once: false,
    next(after, { start, end }) {
      const time = cron.nextRun(new Date(Math.max(after, start - 1)))?.getTime();
      return time === undefined ? undefined : within(time, end);
    },
  };
}

function parseAt(expression: string, content: string, timezone: string): Timetable {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/.test(content)) throw invalid(expression);
  let time: number | undefined;
  try {
    time = new Cron(content, { timezone, paused: true, allowPast: true }).nextRun(new Date(0))?.getTime();
  } catch {
    throw invalid(expression);
  }
  return {
    once: true,
    next: (after) => (time !== undefined && time > after ? time : undefined),
  };
}

function assertTimeZone(timeZone: string): void {
  try {
    new Intl.DateTimeFormat("en", { timeZone });
  } catch {
    throw new RangeError(`Invalid ScheduleExpressionTimezone ${timeZone}.`);
  }
}

const within = (time: number, end: number | undefined) => (end !== undefined && time > end ? undefined : time);
const invalid = (expression: string) => new RangeError(`Invalid Schedule Expression ${expression}.`);

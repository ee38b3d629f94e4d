/**
 * Cron expressions in the words of EventBridge Scheduler, whose six fields differ: a year; 1 to 7 from Sunday on; and
 * one of the two days is always `?`, so that it can say neither "either day" nor "both days".
 * https://docs.aws.amazon.com/scheduler/latest/UserGuide/schedule-types.html
 */
import { type Cron, CronError } from "./cron.ts";

export interface EventBridgeCron {
  /** Together they fire at least as often; a time that two of them have in common fires twice. */
  expressions: readonly string[];
  /** They fire on days too that the cron leaves out: whoever is told has to ask `isFiring`. */
  firesMore: boolean;
}

/** Of AWS, in characters. */
const LONGEST = 256;

/** @throws CronError where it would be longer than AWS takes */
export function toEventBridge({ minutes, hours, days, months, weekdays, daysFit }: Cron): EventBridgeCron {
  const times = `${field(minutes, 0, 59)} ${field(hours, 0, 23)}`;
  const month = field(months, 1, 12);
  const byDay = `cron(${times} ${field(days, 1, 31)} ${month} ? *)`;
  // AWS knows no steps of weekdays
  const byWeekday = `cron(${times} ? ${month} ${weekdays.map((each) => each + 1).join(",")} *)`;
  const [anyDay, anyWeekday] = [days.length === 31, weekdays.length === 7];
  const expressions = (() => {
    if (daysFit === "either") return anyDay || anyWeekday ? [`cron(${times} * ${month} ? *)`] : [byDay, byWeekday];
    return [anyWeekday ? byDay : byWeekday];
  })();
  for (const expression of expressions) {
    if (expression.length > LONGEST) throw new CronError("is a list too long for EventBridge: use ranges or steps");
  }
  return { expressions, firesMore: daysFit === "both" && !anyDay && !anyWeekday };
}

/** The shortest of: all, a step from a value on, or ranges and values. */
function field(values: readonly number[], first: number, last: number): string {
  if (values.length === last - first + 1) return "*";
  const [start = first, second] = values;
  const step = (second ?? start) - start;
  const isStep =
    values.length > 2 &&
    step > 1 &&
    values.every((value, index) => value === start + index * step) &&
    start + values.length * step > last;
  return isStep ? `${start}/${step}` : ranges(values).join(",");
}

function ranges(values: readonly number[]): string[] {
  const runs: [number, number][] = [];
  for (const value of values) {
    const run = runs.at(-1);
    if (run?.[1] === value - 1) run[1] = value;
    else runs.push([value, value]);
  }
  return runs.map(([from, to]) => (from === to ? `${from}` : to === from + 1 ? `${from},${to}` : `${from}-${to}`));
}

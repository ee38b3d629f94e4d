/**
 * An evaluator of EventBridge Scheduler's cron expressions, written from its guide alone: it goes through time minute
 * by minute and looks at what the clock of the zone shows. Clocks that go forward skip firings, and one that goes back
 * does not repeat them.
 */

interface Shown {
  minute: number;
  hour: number;
  day: number;
  month: number;
  /** 1 (Sunday) to 7. */
  weekday: number;
  text: string;
}

const MINUTE_MS = 60_000;
const HALF_HOUR_MS = 30 * MINUTE_MS;
const DAY_MS = 48 * HALF_HOUR_MS;

/** What the clocks of zones show at each half hour. */
const seen = new Map<string, Map<number, Shown>>();

/** @param keeps what is done at each firing beside */
export function eventBridgeFirings(
  expressions: readonly string[],
  zone: string,
  after: number,
  count: number,
  keeps: (time: number) => boolean,
): number[] {
  const rules = expressions.map(readRule);
  const clock = clockOf(zone);
  const found: number[] = [];
  let time = Math.floor(after / MINUTE_MS) * MINUTE_MS + MINUTE_MS;
  const end = after + 60 * 366 * DAY_MS;
  while (found.length < count && time < end) {
    const shown = clock(time);
    // whole days in which nothing can happen are passed over, an hour short of any change of the clock
    if (!rules.some((rule) => rule.month(shown.month) && rule.day(shown))) {
      const left = 24 * 60 - shown.hour * 60 - shown.minute;
      time += (left > 181 ? left - 121 : Math.min(30, left)) * MINUTE_MS;
      continue;
    }
    const hours = rules.some((rule) => rule.hour(shown.hour));
    if (!hours && shown.minute === 0) {
      // no zone changes its clock within a half hour
      time += 30 * MINUTE_MS;
      continue;
    }
    const fires = rules.some(
      (rule) => rule.minute(shown.minute) && rule.hour(shown.hour) && rule.day(shown) && rule.month(shown.month),
    );
    const isShownAgain = () =>
      Array.from({ length: 4 }, (_, index) => time - (index + 1) * 30 * MINUTE_MS).some(
        (earlier) => clock(earlier).text === shown.text,
      );
    if (fires && !isShownAgain() && keeps(time)) found.push(time);
    time += MINUTE_MS;
  }
  return found;
}

type Fits = (value: number) => boolean;

function readRule(expression: string): { minute: Fits; hour: Fits; month: Fits; day(shown: Shown): boolean } {
  const fields = /^cron\((.*)\)$/.exec(expression)?.[1]?.split(" ") ?? [];
  const [minute = "", hour = "", day = "", month = "", weekday = "", year] = fields;
  if (fields.length !== 6 || year !== "*" || (day === "?") === (weekday === "?")) {
    throw new Error(`not of EventBridge: ${expression}`);
  }
  const days = day === "?" ? undefined : fits(day, 31);
  const weekdays = weekday === "?" ? undefined : fits(weekday, 7);
  return {
    minute: fits(minute, 59),
    hour: fits(hour, 23),
    month: fits(month, 12),
    day: (shown) => days?.(shown.day) ?? weekdays?.(shown.weekday) ?? false,
  };
}

function fits(field: string, last: number): Fits {
  const parts = field.split(",").map((part): Fits => {
    if (part === "*") return () => true;
    const [, from = "", step] = /^(\d+)\/(\d+)$/.exec(part) ?? [];
    if (step !== undefined) return (value) => value >= Number(from) && (value - Number(from)) % Number(step) === 0;
    const [, low = "", high = low] = /^(\d+)(?:-(\d+))?$/.exec(part) ?? [];
    if (low === "" || Number(high) > last) throw new Error(`not of EventBridge: ${field}`);
    return (value) => value >= Number(low) && value <= Number(high);
  });
  return (value) => parts.some((part) => part(value));
}

const WEEKDAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];

function clockOf(zone: string): (time: number) => Shown {
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: zone,
    hourCycle: "h23",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    weekday: "short",
  });
  const known = seen.get(zone) ?? new Map<number, Shown>();
  seen.set(zone, known);
  const look = (time: number): Shown => {
    const parts = new Map(format.formatToParts(time).map(({ type, value }) => [type, value]));
    const number = (type: Intl.DateTimeFormatPartTypes) => Number(parts.get(type));
    return {
      minute: number("minute"),
      hour: number("hour"),
      day: number("day"),
      month: number("month"),
      weekday: WEEKDAYS.indexOf(parts.get("weekday") ?? "") + 1,
      text: [...parts.values()].join(""),
    };
  };
  // no zone changes its clock within a half hour
  return (time) => {
    const start = Math.floor(time / HALF_HOUR_MS) * HALF_HOUR_MS;
    const first = known.get(start) ?? look(start);
    known.set(start, first);
    const minute = first.minute + (time - start) / MINUTE_MS;
    return minute < 60 ? { ...first, minute, text: `${first.text}+${minute - first.minute}` } : look(time);
  };
}

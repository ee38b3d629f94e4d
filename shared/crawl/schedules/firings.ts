/**
 * When a cron expression fires, in the way of EventBridge Scheduler: a time that the clock skips when summer begins is
 * left out, and one that it shows twice when summer ends counts once, the first time.
 */
import type { Cron } from "./cron.ts";

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
/** From one 29 February to the next, where a century has none, and that on a given day of the week. */
const HORIZON_DAYS = 366 * 41;

/**
 * The next firings after a time, in ms; fewer than `count` where the calendar has no more.
 * @param timeZone of the IANA database
 */
export function nextFirings(cron: Cron, timeZone: string, after: number, count: number): number[] {
  return firingsWithin(HORIZON_DAYS, cron, timeZone, after, count);
}

/** Whether it fires at that very minute. */
export const isFiring = (cron: Cron, timeZone: string, time: number): boolean =>
  firingsWithin(2, cron, timeZone, time - 1, 1)[0] === time;

function firingsWithin(days: number, cron: Cron, timeZone: string, after: number, count: number): number[] {
  const found: number[] = [];
  const offsetAt = offsetsOf(timeZone);
  // midnight of the local day as if it were UTC
  const today = Math.floor((after + offsetAt(after)) / DAY_MS) * DAY_MS;
  // a clock may be put back over midnight
  for (let day = today - DAY_MS; day < today + days * DAY_MS && found.length < count; day += DAY_MS) {
    if (!dayFits(cron, new Date(day))) continue;
    const toInstant = clockOf(day, offsetAt);
    const times = cron.hours
      .flatMap((hour) => cron.minutes.map((minute) => toInstant(day + (hour * 60 + minute) * MINUTE_MS)))
      .filter((time) => time !== undefined && time > after)
      .map(Number)
      .sort((one, other) => one - other);
    found.push(...times.slice(0, count - found.length));
  }
  return found;
}

function dayFits({ days, months, weekdays, daysFit }: Cron, day: Date): boolean {
  if (!months.includes(day.getUTCMonth() + 1)) return false;
  const [inMonth, inWeek] = [days.includes(day.getUTCDate()), weekdays.includes(day.getUTCDay())];
  return daysFit === "both" ? inMonth && inWeek : inMonth || inWeek;
}

/** Most days have one offset from their eve to their morrow, and need no look at each of their minutes. */
function clockOf(day: number, offsetAt: (time: number) => number): (wall: number) => number | undefined {
  const offset = offsetAt(day - DAY_MS);
  if (offset === offsetAt(day + 2 * DAY_MS)) return (wall) => wall - offset;
  return (wall) => instantOf(wall, offsetAt);
}

/** @returns the first moment at which clocks show it; undefined where they skip it */
function instantOf(wall: number, offsetAt: (time: number) => number): number | undefined {
  const candidates = [offsetAt(wall - DAY_MS), offsetAt(wall + DAY_MS)].map((offset) => wall - offset);
  return candidates
    .filter((time) => time + offsetAt(time) === wall)
    .sort((one, other) => one - other)
    .at(0);
}

const MOST_ZONES = 1_000;
const offsets = new Map<string, (time: number) => number>();

/** What local clocks are ahead of UTC, in ms. A zone's is kept: to make a format takes as long as hundreds of looks. */
function offsetsOf(timeZone: string): (time: number) => number {
  const known = offsets.get(timeZone) ?? readOffsets(timeZone);
  // there are about 600 names, and each can be written in many ways
  if (offsets.size >= MOST_ZONES) offsets.clear();
  offsets.set(timeZone, known);
  return known;
}

function readOffsets(timeZone: string): (time: number) => number {
  if (timeZone === "UTC") return () => 0;
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone,
    hourCycle: "h23",
    era: "short",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
  return (time) => {
    const parts = new Map(format.formatToParts(time).map(({ type, value }) => [type, Number(value)]));
    const part = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? 0;
    const wall = Date.UTC(part("year"), part("month") - 1, part("day"), part("hour"), part("minute"), part("second"));
    return wall - Math.floor(time / 1000) * 1000;
  };
}

/** Whether it is a name of the IANA database that this runtime knows; offsets such as `+02:00` are none. */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** The calendar of times that people and archivers write, in UTC. */

/** PostgreSQL has no year 0, and ISO 8601 writes one of five digits otherwise. In ms. */
export const EARLIEST_MS = Date.parse("0001-01-01T00:00:00.000Z");
export const LATEST_MS = Date.parse("9999-12-31T23:59:59.999Z");
const DAY_MS = 86_400_000;

/** @param time in ms, or ISO 8601 with its zone: what counts is the year of UTC */
export function isInCalendar(time: number | string): boolean {
  const ms = typeof time === "number" ? time : Date.parse(time);
  return ms >= EARLIEST_MS && ms <= LATEST_MS;
}

/** @param month from 1 */
export function daysOf(year: number, month: number): number {
  return new Date(new Date(0).setUTCFullYear(year, month, 0)).getUTCDate();
}

/** Where a day ends, which is as far as the calendar goes. */
export const endOfDay = (day: string): Date => new Date(Math.min(Date.parse(day) + DAY_MS, LATEST_MS));

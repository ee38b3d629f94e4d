/** Times that requests may name: PostgreSQL has no year 0, and ISO 8601 writes one of five digits otherwise. In ms. */
export const EARLIEST_MS = Date.parse("0001-01-01T00:00:00.000Z");
export const LATEST_MS = Date.parse("9999-12-31T23:59:59.999Z");

/** @param time in ms, or ISO 8601 with its zone: what counts is the year of UTC */
export function isInCalendar(time: number | string): boolean {
  const ms = typeof time === "number" ? time : Date.parse(time);
  return ms >= EARLIEST_MS && ms <= LATEST_MS;
}

export const OUT_OF_CALENDAR = "is before the year 1 or after 9999, by UTC";

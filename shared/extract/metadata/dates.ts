/** Turns publication dates as pages write them into ISO 8601. */

const ISO =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,]\d+)?)?\s*(Z|[+-]\d{2}:?\d{2}(?::?00)?)?)?$/i;
const COMPACT = /^(\d{4})(\d{2})(\d{2})(?:T?(\d{2})(\d{2})(\d{2})(?:Z)?)?$/i;
const MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split(" ");
const DAY_MONTH = /^(?:[a-z]{3,9},?\s+)?(\d{1,2})(?:st|nd|rd|th)?[\s-]+([a-z]{3,9})\.?,?[\s-]+(\d{4})(.*)$/i;
const MONTH_DAY = /^(?:[a-z]{3,9},?\s+)?([a-z]{3,9})\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})(.*)$/i;
const CLOCK = /(\d{1,2}):(\d{2})(?::(\d{2}))?\s*(am|pm)?\s*(GMT|UTC|Z|[+-]\d{2}:?\d{2})?/i;

/**
 * A date alone stays a date (`2024-05-01`); a date with a time becomes UTC (`2024-05-01T10:00:00.000Z`), taken as UTC
 * where it names no zone. Null for what is no date, or lies outside the years 1000 to 2999.
 * @example
 * isoDate("May 1st, 2024 at 10:00 am") // => "2024-05-01T10:00:00.000Z"
 * isoDate("31 February 2024") // => null
 */
export function isoDate(value: string): string | null {
  const text = value.trim().slice(0, 80);
  const iso = ISO.exec(text);
  if (iso !== null) {
    const [, year = "", month = "", day = "", hour, minute = "", second = "00", zone = "Z"] = iso;
    return hour === undefined
      ? fromParts(year, month, day)
      : fromParts(year, month, day, `${hour}:${minute}:${second}`, zone);
  }
  const compact = COMPACT.exec(text);
  if (compact !== null) {
    const [, year = "", month = "", day = "", hour, minute = "", second = ""] = compact;
    return fromParts(year, month, day, hour === undefined ? undefined : `${hour}:${minute}:${second}`);
  }
  const dayMonth = DAY_MONTH.exec(text);
  if (dayMonth !== null) return written(dayMonth[3], dayMonth[2], dayMonth[1], dayMonth[4]);
  const monthDay = MONTH_DAY.exec(text);
  if (monthDay !== null) return written(monthDay[3], monthDay[1], monthDay[2], monthDay[4]);
  return null;
}

function written(year = "", monthName = "", day = "", rest = ""): string | null {
  const month = MONTHS.indexOf(monthName.slice(0, 3).toLowerCase()) + 1;
  if (month === 0) return null;
  const clock = CLOCK.exec(rest);
  if (clock === null) return fromParts(year, pad(month), day.padStart(2, "0"));
  const [, rawHour = "0", minute = "00", second = "00", half, zone = "Z"] = clock;
  let hour = Number(rawHour);
  if (half !== undefined) hour = (hour % 12) + (half.toLowerCase() === "pm" ? 12 : 0);
  return fromParts(year, pad(month), day.padStart(2, "0"), `${pad(hour)}:${minute}:${second}`, zone);
}

function pad(value: number): string {
  return String(value).padStart(2, "0");
}

function fromParts(year: string, month: string, day: string, time?: string, zone = "Z"): string | null {
  if (!/^[12]/.test(year)) return null;
  const date = `${year}-${month}-${day}`;
  const midnight = new Date(`${date}T00:00:00Z`);
  // Date accepts 31 February and moves on to March.
  if (Number.isNaN(midnight.getTime()) || midnight.toISOString().slice(0, 10) !== date) return null;
  if (time === undefined) return date;
  const offset = /^(?:GMT|UTC|Z)$/i.test(zone) ? "Z" : zone.replace(/^([+-]\d{2}):?(\d{2}).*$/, "$1:$2");
  const parsed = new Date(`${date}T${time}${offset}`);
  return Number.isNaN(parsed.getTime()) ? null : parsed.toISOString();
}

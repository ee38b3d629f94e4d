/** Turns publication dates as pages write them into ISO 8601. */

/** In ISO 8601 and its relatives: other separators, months and days of one digit, zones by name. */
const ISO =
  /^(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?:(?:[T,]\s*|\s+)(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,]\d+)?)?\s*(.{0,20}))?$/i;
/** Dots part day, month and year in this order wherever they do. */
const DOTTED = /^(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})(?:[\s,]+(\d{1,2}):(\d{2})(?::(\d{2}))?\s*(.{0,20}))?$/;
const EAST_ASIAN = /^(\d{4})\s*[年년]\s*(\d{1,2})\s*[月월]\s*(\d{1,2})\s*[日일]/;
const COMPACT = /^(\d{4})(\d{2})(\d{2})(?:T?(\d{2})(\d{2})(\d{2})(?:Z)?)?$/i;
const MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split(" ");
const DAY_MONTH = /^(?:[a-z]{3,9},?\s+)?(\d{1,2})(?:st|nd|rd|th)?[\s-]+([a-z]{3,9})\.?,?[\s-]+(\d{4})(.*)$/i;
const MONTH_DAY = /^(?:[a-z]{3,9},?\s+)?([a-z]{3,9})\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})(.*)$/i;
const CLOCK = /(\d{1,2}):(\d{2})(?::(\d{2}))?\s*(am|pm|a\.m\.|p\.m\.)?\s*(.{0,20})/i;

/** Hours from UTC of zones whose name means one thing (RFC 5322 section 4.3, and those of newspapers elsewhere). */
const ZONES: Readonly<Record<string, string>> = {
  ...{ Z: "Z", UT: "Z", UTC: "Z", GMT: "Z", WET: "Z", WEST: "+01:00", CET: "+01:00", CEST: "+02:00", MEZ: "+01:00" },
  ...{ MESZ: "+02:00", BST: "+01:00", EET: "+02:00", EEST: "+03:00", MSK: "+03:00", SAST: "+02:00", WIB: "+07:00" },
  ...{ EST: "-05:00", EDT: "-04:00", CST: "-06:00", CDT: "-05:00", MST: "-07:00", MDT: "-06:00", PST: "-08:00" },
  ...{ PDT: "-07:00", AKST: "-09:00", AKDT: "-08:00", HST: "-10:00", NST: "-03:30", NDT: "-02:30", BRT: "-03:00" },
  ...{ JST: "+09:00", KST: "+09:00", SGT: "+08:00", HKT: "+08:00", PHT: "+08:00", AWST: "+08:00", ACST: "+09:30" },
  ...{ ACDT: "+10:30", AEST: "+10:00", AEDT: "+11:00", NZST: "+12:00", NZDT: "+13:00" },
};
const OFFSET = /^(?:GMT|UTC)?\s*([+-])(\d{1,2})(?::?(\d{2}))?(?::?00)?\b/i;
/** What may be a zone: capitals behind the time. */
const ZONE_NAME = /^\(?([A-Z]{1,5})\b/;

/**
 * A date alone stays a date (`2024-05-01`); a date with a time becomes UTC (`2024-05-01T10:00:00.000Z`), taken as UTC
 * where it names no zone, and left out where the zone's name is not known. Null for what is no date, or lies outside
 * the years 1000 to 2999.
 * @example
 * isoDate("May 1st, 2024 at 10:00 am") // => "2024-05-01T10:00:00.000Z"
 * isoDate("31 February 2024") // => null
 */
export function isoDate(value: string): string | null {
  const text = value.trim().slice(0, 80);
  const iso = ISO.exec(text);
  if (iso !== null) {
    const [, year = "", , month = "", day = "", hour, minute, second, rest] = iso;
    return withTime(year, Number(month), Number(day), { hour, minute, second, rest });
  }
  const dotted = DOTTED.exec(text);
  if (dotted !== null) {
    const [, day = "", month = "", year = "", hour, minute, second, rest] = dotted;
    return withTime(year, Number(month), Number(day), { hour, minute, second, rest });
  }
  const eastAsian = EAST_ASIAN.exec(text);
  if (eastAsian !== null) return withTime(eastAsian[1] ?? "", Number(eastAsian[2]), Number(eastAsian[3]), {});
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
  const [, hour, minute, second, half, behind] = CLOCK.exec(rest) ?? [];
  const twelve = half === undefined || hour === undefined ? 0 : (Number(hour) % 12) + (/p/i.test(half) ? 12 : 0);
  return withTime(year, month, Number(day), {
    hour: half === undefined ? hour : String(twelve),
    minute,
    second,
    rest: behind,
  });
}

interface Time {
  /** Left out: a date alone. */
  hour?: string | undefined;
  minute?: string | undefined;
  second?: string | undefined;
  /** What stands behind the time. */
  rest?: string | undefined;
}

/** A time in a zone that nobody knows is none: the date stays. */
function withTime(year: string, month: number, day: number, { hour, minute, second = "00", rest = "" }: Time) {
  const zone = hour === undefined ? undefined : zoneOf(rest.trim());
  const time = zone === undefined || hour === undefined ? undefined : `${pad(Number(hour))}:${minute}:${second}`;
  return fromParts(year, pad(month), pad(day), time, zone);
}

/** @returns as `Date` reads it; undefined for a name that means several zones, or none that is known */
function zoneOf(text: string): string | undefined {
  const [, sign, hours = "", minutes = "00"] = OFFSET.exec(text) ?? [];
  if (sign !== undefined) return `${sign}${hours.padStart(2, "0")}:${minutes}`;
  const name = ZONE_NAME.exec(text)?.[1] ?? (/^(?:z|utc|gmt)\b/i.test(text) ? "Z" : undefined);
  return name === undefined ? "Z" : ZONES[name];
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
  const parsed = new Date(`${date}T${time}${zone}`);
  return Number.isNaN(parsed.getTime()) ? null : parsed.toISOString();
}

/** Parses the dates of sitemaps and feeds. */

const W3C =
  /^(?<year>\d{4})(?:-(?<month>\d{2})(?:-(?<day>\d{2})(?:T(?<hour>\d{2}):(?<minute>\d{2})(?::(?<second>\d{2})(?:\.\d+)?)?(?<zone>Z|[+-]\d{2}:\d{2}))?)?)?$/;

/** @returns the text, where it is a date by https://www.w3.org/TR/NOTE-datetime that exists; else null */
export function w3cDatetime(text: string): string | null {
  const parts = W3C.exec(text)?.groups;
  if (parts === undefined) return null;
  const number = (name: string, missing: number): number => Number(parts[name] ?? missing);
  const month = number("month", 1);
  const day = number("day", 1);
  if (month < 1 || month > 12 || day < 1 || day > daysOf(number("year", 0), month)) return null;
  if (number("hour", 0) > 23 || number("minute", 0) > 59 || number("second", 0) > 59) return null;
  const [hours = 0, minutes = 0] = (parts["zone"] ?? "Z").slice(1).split(":").map(Number);
  return hours > 23 || minutes > 59 ? null : text;
}

function daysOf(year: number, month: number): number {
  // the two-digit years of Date.UTC do not matter: leap years repeat every 400
  return new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate();
}

/** RFC 822 dates with the years of RFC 1123; the names of days are not checked. */
const RFC_822 =
  /^(?:[A-Za-z]{3,9},?\s+)?(?<day>\d{1,2})\s+[A-Za-z]{3}[a-z]*\s+\d{2,4}\s+\d{1,2}:\d{2}(?::\d{2})?\s*(?:[A-Z]{1,5}|[+-]\d{4})$/;

const ZONE = /(?:[A-Z]{1,5}|[+-]\d{4})$/;

/** The date of a feed's entry, as a W3C datetime; null where it is none. */
export function feedDate(text: string): string | null {
  const kept = w3cDatetime(text);
  if (kept !== null) return kept;
  const day = RFC_822.exec(text)?.groups?.["day"];
  // a day that its month does not have would be one of the next month
  if (day === undefined || new Date(text.replace(ZONE, "UTC")).getUTCDate() !== Number(day)) return null;
  const time = Date.parse(text);
  return Number.isNaN(time) ? null : new Date(time).toISOString();
}

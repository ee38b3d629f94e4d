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
  return w3cDatetime(text) ?? nearlyW3c(text) ?? rfc822Date(text) ?? otherForm(text);
}

function rfc822Date(text: string): string | null {
  const day = RFC_822.exec(text)?.groups?.["day"];
  // a day that its month does not have would be one of the next month
  if (day === undefined || new Date(text.replace(ZONE, "UTC")).getUTCDate() !== Number(day)) return null;
  const time = Date.parse(text);
  return Number.isNaN(time) ? null : new Date(time).toISOString();
}

/** ISO 8601 as programs print it: a space for the T, a zone without its colon or none at all, which is taken as UTC. */
const NEARLY_W3C =
  /^(?<date>\d{4}-\d{2}-\d{2})[T ](?<time>\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?)\s*(?<zone>Z|UTC|GMT|[+-]\d{2}:?(?:\d{2})?)?$/i;

function nearlyW3c(text: string): string | null {
  const { date, time, zone = "Z" } = NEARLY_W3C.exec(text)?.groups ?? {};
  if (date === undefined || time === undefined) return null;
  const [sign, ...digits] = zone.replace(":", "");
  const offset = /[+-]/.test(sign ?? "")
    ? `${sign}${digits.slice(0, 2).join("")}:${digits.slice(2).join("") || "00"}`
    : "Z";
  return w3cDatetime(`${date}T${time.replace(",", ".")}${offset}`);
}

/** RFC 850, asctime, and the day before the year without a time. */
const OTHER_FORMS = [
  /^(?:[a-z]{3,9},?\s+)?(?<day>\d{1,2})[-\s](?<month>[a-z]{3})[a-z]*[-\s](?<year>\d{4}|\d{2})(?:\s+(?<time>\d{1,2}:\d{2}(?::\d{2})?)(?:\s*(?:GMT|UTC|Z))?)?$/i,
  /^(?:[a-z]{3,9},?\s+)?(?<month>[a-z]{3})[a-z]*\s+(?<day>\d{1,2}),?(?:\s+(?<time>\d{1,2}:\d{2}(?::\d{2})?))?(?:\s*(?:GMT|UTC|Z))?\s+(?<year>\d{4})$/i,
];
const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

function otherForm(text: string): string | null {
  for (const form of OTHER_FORMS) {
    const { day = "", month = "", year = "", time } = form.exec(text)?.groups ?? {};
    const number = MONTHS.indexOf(month.toLowerCase()) + 1;
    if (number === 0) continue;
    // RFC 2822 section 4.3
    const whole = year.length === 4 ? year : String(Number(year) + (Number(year) < 50 ? 2000 : 1900));
    const date = `${whole}-${String(number).padStart(2, "0")}-${day.padStart(2, "0")}`;
    return w3cDatetime(time === undefined ? date : `${date}T${time.padStart(time.split(":").length * 3 - 1, "0")}Z`);
  }
  return null;
}

/**
 * The latest time that a date may mean: the end of its year, month or day where it says no more.
 * @param date W3C datetime
 * @returns epoch ms
 */
export function latestTimeOf(date: string): number {
  const [year = 0, month, day] = (date.split("T")[0] ?? "").split("-").map(Number);
  if (date.includes("T")) return Date.parse(date);
  const end = new Date(0);
  // by its setter, since Date.UTC takes years below 100 for those of the last century
  end.setUTCFullYear(...(month === undefined ? ([year + 1, 0, 1] as const) : nextOf(year, month, day)));
  return end.getTime() - 1;
}

function nextOf(year: number, month: number, day: number | undefined): readonly [number, number, number] {
  return day === undefined ? [year, month, 1] : [year, month - 1, day + 1];
}

/**
 * Five-field cron expressions as Vixie cron reads them: minute, hour, day of the month, month, day of the week.
 * `man 5 crontab` of Vixie cron 4.1.
 */

export interface Cron {
  minutes: readonly number[];
  hours: readonly number[];
  /** 1 to 31. */
  days: readonly number[];
  /** 1 to 12. */
  months: readonly number[];
  /** 0 (Sunday) to 6. */
  weekdays: readonly number[];
  /**
   * What a day has to fit: `both`, where the day of the month or that of the week begins with `*`; else `either`.
   */
  daysFit: "both" | "either";
}

/** An expression that is none; the message names the field, and says what to write instead. */
export class CronError extends Error {
  override readonly name = "CronError";
}

interface Field {
  name: string;
  first: number;
  last: number;
  names?: readonly string[];
}

const MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const WEEKDAYS = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];
const MINUTE = { name: "minute", first: 0, last: 59 };
const HOUR = { name: "hour", first: 0, last: 23 };
const DAY = { name: "day of the month", first: 1, last: 31 };
const MONTH = { name: "month", first: 1, last: 12, names: MONTHS };
/** 7 is Sunday too. */
const WEEKDAY = { name: "day of the week", first: 0, last: 7, names: WEEKDAYS };

const LONGEST = 200;
/** Of a leap year. */
const MONTH_DAYS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/**
 * @throws CronError where it is no such expression, or one that no day of any year fits
 */
export function parseCron(expression: string): Cron {
  if (expression.length > LONGEST) throw new CronError(`has more than ${LONGEST} characters`);
  const fields = expression.trim().split(/\s+/);
  if (fields.length !== 5) {
    throw new CronError(
      "needs five fields (minute, hour, day of the month, month, day of the week), as in 0 */6 * * *",
    );
  }
  const [minute = "", hour = "", day = "", month = "", weekday = ""] = fields;
  const cron: Cron = {
    minutes: readField(minute, MINUTE),
    hours: readField(hour, HOUR),
    days: readField(day, DAY),
    months: readField(month, MONTH),
    weekdays: [...new Set(readField(weekday, WEEKDAY).map((each) => each % 7))].sort((one, other) => one - other),
    daysFit: day.startsWith("*") || weekday.startsWith("*") ? "both" : "either",
  };
  const everComes =
    cron.daysFit === "either" || cron.months.some((each) => (cron.days[0] ?? 0) <= (MONTH_DAYS[each - 1] ?? 0));
  if (!everComes) throw new CronError(`names days that none of its months has: ${day} ${month}`);
  return cron;
}

function readField(text: string, field: Field): number[] {
  const values = new Set(text.split(",").flatMap((item) => readItem(item, field)));
  return [...values].sort((one, other) => one - other);
}

function readItem(item: string, field: Field): number[] {
  const [range = "", stepText, ...more] = item.split("/");
  const [from = "", to, ...further] = range.split("-");
  if (item === "" || more.length > 0 || further.length > 0) throw fault(field, item, "is no value, range or step");
  if (/^[LW?]$|\dL$|\dW$|#/i.test(item)) throw fault(field, item, "is not known: L, W, # and ? are of other crons");
  const step = stepText === undefined ? 1 : /^\d{1,2}$/.test(stepText) ? Number(stepText) : 0;
  if (step < 1) throw fault(field, item, "needs a step of 1 or more behind its /");
  if (range === "*") return values(field.first, field.name === WEEKDAY.name ? 6 : field.last, step);
  const first = readValue(from, field, item);
  if (to === undefined) {
    if (stepText !== undefined)
      throw fault(field, item, `has a step, and no range: write ${from}-${field.last}/${step}`);
    return [first];
  }
  const last = readValue(to, field, item);
  if (first > last) throw fault(field, item, "is a range that ends before it begins: write it as two");
  return values(first, last, step);
}

function readValue(text: string, field: Field, item: string): number {
  const named = field.names?.indexOf(text.toUpperCase()) ?? -1;
  if (named >= 0) return named + field.first;
  const value = /^\d{1,2}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= field.first && value <= field.last) return value;
  const names = field.names === undefined ? "" : ` or a name such as ${field.names[1]}`;
  throw fault(field, item, `must be ${field.first} to ${field.last}${names}`);
}

function values(first: number, last: number, step: number): number[] {
  return Array.from({ length: Math.floor((last - first) / step) + 1 }, (_, index) => first + index * step);
}

const fault = ({ name }: Field, item: string, what: string) =>
  new CronError(`${name}: ${JSON.stringify(item)} ${what}`);

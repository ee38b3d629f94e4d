/** What a URL alone gives away of a site without end. */

/** As Heritrix's PathologicalPathDecideRule has it: a third time is one too many. */
const REPEATS = 3;
/** Numbers repeat in honest paths: `/11/11/11/`. */
const NUMBER_REPEATS = 5;
/** Of one segment anywhere in a path. */
const SEGMENT_OCCURRENCES = 5;
/** As Heritrix's TooManyPathSegmentsDecideRule, and some more. */
const MAX_SEGMENTS = 25;
export const MAX_PARAMETERS = 20;

/** Longest sequence of segments that is looked for as a repeated one. */
const MAX_PERIOD = 8;

/**
 * `TRAP_PATH`: segments, or sequences of them, that repeat, or more of them than any honest path has; `TRAP_QUERY`:
 * more parameters than anyone means. null: nothing of the kind.
 */
export function urlTrap(url: URL): "TRAP_PATH" | "TRAP_QUERY" | null {
  const segments = url.pathname.split("/").filter((segment) => segment !== "");
  if (segments.length > MAX_SEGMENTS || hasRepeats(segments)) return "TRAP_PATH";
  return parameterNames(url).length > MAX_PARAMETERS ? "TRAP_QUERY" : null;
}

function hasRepeats(segments: readonly string[]): boolean {
  if (segments.length < REPEATS) return false;
  const seen = new Map<string, number>();
  for (const segment of segments) {
    const times = (seen.get(segment) ?? 0) + 1;
    if (times >= SEGMENT_OCCURRENCES && !isNumber(segment)) return true;
    seen.set(segment, times);
  }
  // all segments differ: nothing repeats
  if (seen.size === segments.length) return false;
  for (let period = 1; period <= Math.min(MAX_PERIOD, segments.length / REPEATS); period++) {
    let same = 0;
    for (let at = period; at < segments.length; at++) {
      same = segments[at] === segments[at - period] ? same + 1 : 0;
      if (same < period * (REPEATS - 1)) continue;
      const sequence = segments.slice(at - period + 1, at + 1);
      if (!sequence.every(isNumber) || same >= period * (NUMBER_REPEATS - 1)) return true;
    }
  }
  return false;
}

const isNumber = (segment: string): boolean => /^\d+$/.test(segment);

function parameterNames(url: URL): string[] {
  if (url.search === "") return [];
  return url.search
    .slice(1)
    .split("&")
    .map((pair) => pair.split("=", 1)[0] ?? "");
}

/** The names of a query's parameters: what one script of a site is asked in the same way. null without a query. */
export function queryShape(url: URL): { path: string; names: string; parameters: number } | null {
  const names = parameterNames(url);
  if (names.length === 0) return null;
  return { path: url.host + url.pathname, names: names.toSorted().join("&"), parameters: names.length };
}

/**
 * Years beyond 9999, too: a calendar without end gets there. Without hyphens only whole dates: six digits are a number.
 */
const WHOLE_DATE = String.raw`\d{4,5}-\d{2}(?:-\d{2})?|\d{4}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])`;
const PATH_DATE = new RegExp(String.raw`/(?:\d{4,5}/\d{1,2}(?:/\d{1,2})?|${WHOLE_DATE})(/?(?:index\.\w+)?)$`);
const DATE_VALUE = new RegExp(`^(?:${WHOLE_DATE})$`);
const DATE_NAME = /^(?:year|yr|month|mon|day|date|jahr|monat|tag|annee|mois|jour|y|m|d)$/i;

/**
 * A URL that names a page by nothing but a date, with the date left out: `/calendar/2024/05/` and `?date=2024-05-01`
 * are of one template with all their like, `/2024/05/01/a-story` is of none. null where there is no date.
 */
export function dateTemplate(url: URL): string | null {
  const path = url.pathname.replace(PATH_DATE, (date: string, rest: string) => {
    const parts = date.match(/\d+/g)?.length;
    return `/{date${parts}}${rest}`;
  });
  let dates = 0;
  const query = url.search.replace(/([^?&=]+)=([^&]*)/g, (pair: string, name: string, value: string) => {
    const isDate = DATE_VALUE.test(value) || (DATE_NAME.test(name) && /^\d+$/.test(value));
    if (isDate) dates += DATE_VALUE.test(value) ? 2 : 1;
    return isDate ? `${name}={date}` : pair;
  });
  // one number called `d` or `m` is no date yet
  if (path === url.pathname && dates < 2) return null;
  return url.host + path + query;
}

/** Of a text, in UTF-16 code units. */
const READ_TEXT = 20_000;

/**
 * A text without what tells one day from another: numbers, and the names of months and days in its language. Languages
 * that do not part their words keep some of the names, so that their calendars have a few texts instead of one.
 * @param language ISO 639-1; any other counts as English
 */
export function undatedText(text: string, language: string): string {
  const names = dateNames(language);
  return text
    .slice(0, READ_TEXT)
    .toLowerCase()
    .split(/[^\p{L}\p{M}]+/u)
    .filter((word) => word !== "" && !names.has(word))
    .join(" ");
}

const knownNames = new Map<string, ReadonlySet<string>>();

function dateNames(language: string): ReadonlySet<string> {
  const known = knownNames.get(language);
  if (known !== undefined) return known;
  const locales = /^[a-z]{2}$/.test(language) ? [language, "en"] : ["en"];
  const names = new Set<string>();
  for (const style of ["long", "short"] as const) {
    const month = new Intl.DateTimeFormat(locales, { month: style, timeZone: "UTC" });
    const inDate = new Intl.DateTimeFormat(locales, { month: style, day: "numeric", timeZone: "UTC" });
    const weekday = new Intl.DateTimeFormat(locales, { weekday: style, timeZone: "UTC" });
    for (let index = 0; index < 12; index++) {
      const texts = [month, inDate].map((format) => format.format(Date.UTC(2024, index, 1)));
      texts.push(weekday.format(Date.UTC(2024, 0, 1 + (index % 7))));
      for (const word of texts
        .join(" ")
        .toLowerCase()
        .split(/[^\p{L}\p{M}]+/u))
        names.add(word);
    }
  }
  knownNames.set(language, names);
  return names;
}

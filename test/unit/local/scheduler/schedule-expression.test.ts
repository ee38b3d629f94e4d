import { expect, test } from "vitest";
import { parseExpression } from "../../../../local/scheduler/expression.ts";

const at = (text: string) => Date.parse(text);
const start = at("2026-01-01T00:00:00Z");

function times(expression: string, count: number, timeZone?: string): string[] {
  const timetable = parseExpression(expression, timeZone);
  const found: string[] = [];
  let after = start;
  while (found.length < count) {
    const next = timetable.next(after, { start });
    if (next === undefined) break;
    found.push(new Date(next).toISOString().slice(0, 16));
    after = next;
  }
  return found;
}

// the examples of https://docs.aws.amazon.com/scheduler/latest/UserGuide/schedule-types.html
test.for([
  ["rate(5 minutes)", ["2026-01-01T00:05", "2026-01-01T00:10"]],
  ["rate(1 day)", ["2026-01-02T00:00", "2026-01-03T00:00"]],
  ["cron(15 10 ? * 6L 2026-2027)", ["2026-01-30T10:15", "2026-02-27T10:15"]],
  ["cron(0 10 * * ? *)", ["2026-01-01T10:00", "2026-01-02T10:00"]],
  ["cron(0 18 ? * MON-FRI *)", ["2026-01-01T18:00", "2026-01-02T18:00", "2026-01-05T18:00"]],
  ["cron(0 8 ? * 2 *)", ["2026-01-05T08:00", "2026-01-12T08:00"]],
  ["cron(0/15 8 1 * ? *)", ["2026-01-01T08:00", "2026-01-01T08:15"]],
  ["cron(0 8 ? * 3#2 *)", ["2026-01-13T08:00", "2026-02-10T08:00"]],
  ["cron(0 8 L * ? *)", ["2026-01-31T08:00", "2026-02-28T08:00"]],
  ["at(2026-03-01T12:30:00)", ["2026-03-01T12:30"]],
] as const)("%s", ([expression, expected]) => {
  expect(times(expression, expected.length)).toEqual(expected);
});

test("times are local to the time zone, over a change of its clocks too", () => {
  expect(times("at(2026-07-01T12:00:00)", 1, "Europe/Berlin")).toEqual(["2026-07-01T10:00"]);
  expect(times("cron(0 12 28-29 3 ? *)", 2, "Europe/Berlin")).toEqual(["2026-03-28T11:00", "2026-03-29T10:00"]);
});

test("a rate counts from its start, and ends with its end", () => {
  const { next } = parseExpression("rate(1 hour)");
  const bounds = { start: at("2026-01-01T00:30:00Z"), end: at("2026-01-01T02:00:00Z") };
  expect(next(start, bounds)).toBe(bounds.start);
  expect(next(bounds.start, bounds)).toBe(at("2026-01-01T01:30:00Z"));
  expect(next(at("2026-01-01T01:30:00Z"), bounds)).toBeUndefined();
});

test.for([
  "rate(0 minutes)",
  "rate(1 minutes)",
  "rate(5 minute)",
  "rate(5 weeks)",
  "cron(0 10 * * * *)",
  "cron(0 10 ? * ? *)",
  "cron(0 10 * * ?)",
  "cron(61 10 * * ? *)",
  "at(2026-01-01)",
  "at(2026-13-01T00:00:00)",
  "every day",
])("%s is refused", (expression) => {
  expect(() => parseExpression(expression)).toThrow(`Invalid Schedule Expression ${expression}.`);
});

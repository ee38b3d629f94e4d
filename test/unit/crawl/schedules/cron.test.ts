import { Cron as Croner } from "croner";
import { describe, expect, it } from "vitest";
import { CronError, parseCron } from "../../../../shared/crawl/schedules/cron.ts";
import { toEventBridge } from "../../../../shared/crawl/schedules/eventbridge-cron.ts";
import { isFiring, isTimeZone, nextFirings } from "../../../../shared/crawl/schedules/firings.ts";
import { eventBridgeFirings } from "./eventbridge-evaluator.ts";
import { generateCron, seededRandom } from "./generate-cron.ts";

const iso = (times: readonly number[]) => times.map((time) => new Date(time).toISOString());
const firings = (expression: string, zone: string, after: string, count: number) =>
  iso(nextFirings(parseCron(expression), zone, Date.parse(after), count));

describe("parseCron", () => {
  it.each([
    ["0 */6 * * *", { hours: [0, 6, 12, 18], minutes: [0], daysFit: "both" }],
    ["1,2,30-50/10 9-17 * * mon-FRI", { minutes: [1, 2, 30, 40, 50], weekdays: [1, 2, 3, 4, 5] }],
    ["0 0 * jan,DEC 0", { months: [1, 12], weekdays: [0] }],
    ["0 0 * * 7", { weekdays: [0] }],
    ["0 0 * * 5-7", { weekdays: [0, 5, 6] }],
    ["0 0 * * 0-7", { weekdays: [0, 1, 2, 3, 4, 5, 6] }],
    ["0 0 13 * 5", { days: [13], weekdays: [5], daysFit: "either" }],
    ["0 0 */2 * 1", { daysFit: "both" }],
    ["0 0 29 2 *", { days: [29], months: [2] }],
  ])("reads %s", (expression, expected) => {
    expect(parseCron(expression)).toMatchObject(expected);
  });

  it.each([
    ["* * * *", /five fields/],
    ["@daily", /five fields/],
    ["0 0 * * * *", /five fields/],
    ["60 * * * *", /minute: "60" must be 0 to 59/],
    ["* 24 * * *", /hour/],
    ["0 0 0 * *", /day of the month/],
    ["0 0 1 13 *", /month.*JAN|month.*FEB/],
    ["0 0 * * 8", /day of the week/],
    ["0 0 L * *", /L, W, # and \?/],
    ["0 0 15W * *", /L, W, # and \?/],
    ["0 0 * * 1#2", /L, W, # and \?/],
    ["0 0 ? * 1", /L, W, # and \?/],
    ["*/0 * * * *", /step/],
    ["5/15 * * * *", /write 5-59\/15/],
    ["0 0 * * FRI-MON", /ends before it begins/],
    ["0 0 30 2 *", /none of its months/],
    ["1,,2 * * * *", /no value/],
    ["-1 * * * *", /minute/],
    ["1.5 * * * *", /minute/],
  ])("refuses %s", (expression, message) => {
    expect(() => parseCron(expression)).toThrow(CronError);
    expect(() => parseCron(expression)).toThrow(message);
  });
});

describe("nextFirings", () => {
  it("leaves out a time that clocks skip, and fires once at one that they show twice", () => {
    expect(firings("30 2 * * *", "Europe/Berlin", "2026-03-28T00:00:00Z", 3)).toEqual([
      "2026-03-28T01:30:00.000Z",
      "2026-03-30T00:30:00.000Z",
      "2026-03-31T00:30:00.000Z",
    ]);
    expect(firings("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", 2)).toEqual([
      "2026-10-25T00:30:00.000Z",
      "2026-10-26T01:30:00.000Z",
    ]);
  });

  it("knows days that fit either, and those that have to fit both", () => {
    expect(firings("0 0 13 * 5", "UTC", "2026-11-01T00:00:00Z", 3).map((each) => each.slice(0, 10))).toEqual([
      "2026-11-06",
      "2026-11-13",
      "2026-11-20",
    ]);
    expect(firings("0 0 */2 * 1", "UTC", "2026-11-01T00:00:00Z", 3).map((each) => each.slice(0, 10))).toEqual([
      "2026-11-09",
      "2026-11-23",
      "2026-12-07",
    ]);
  });

  it("finds the days of leap years, and says of a minute whether it fires then", () => {
    expect(firings("0 0 29 2 *", "UTC", "2096-03-01T00:00:00Z", 1)).toEqual(["2104-02-29T00:00:00.000Z"]);
    expect(isFiring(parseCron("0 6 * * *"), "UTC", Date.parse("2026-01-01T06:00:00Z"))).toBe(true);
    expect(isFiring(parseCron("0 6 * * *"), "UTC", Date.parse("2026-01-01T06:01:00Z"))).toBe(false);
  });

  it("knows time zones by their names alone", () => {
    expect(["Europe/Berlin", "UTC", "America/St_Johns"].every(isTimeZone)).toBe(true);
    expect(["+02:00", "Mars/Olympus", ""].some(isTimeZone)).toBe(false);
  });
});

describe("toEventBridge", () => {
  it.each([
    ["0 */6 * * *", ["cron(0 0/6 * * ? *)"]],
    ["*/15 * * * 0", ["cron(0/15 * ? * 1 *)"]],
    ["0 0 * * 7", ["cron(0 0 ? * 1 *)"]],
    ["0 9 * * mon-fri", ["cron(0 9 ? * 2,3,4,5,6 *)"]],
    ["0 0 1,15 * *", ["cron(0 0 1,15 * ? *)"]],
    ["0 0 13 * 5", ["cron(0 0 13 * ? *)", "cron(0 0 ? * 6 *)"]],
    ["0 0 1-31 * 5", ["cron(0 0 * * ? *)"]],
    ["10-50/10 0 1 1-3 *", ["cron(10/10 0 1 1-3 ? *)"]],
    ["10-40/10 0 1 1 *", ["cron(10,20,30,40 0 1 1 ? *)"]],
  ])("says %s", (expression, expected) => {
    expect(toEventBridge(parseCron(expression))).toEqual({ expressions: expected, firesMore: false });
  });

  it("says so where EventBridge fires on more days", () => {
    expect(toEventBridge(parseCron("0 0 */2 * 1"))).toEqual({
      expressions: ["cron(0 0 ? * 2 *)"],
      firesMore: true,
    });
  });
});

const GENERATED = 1_000;
const FIRINGS = 20;
const ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "America/St_Johns"];
const START = Date.parse("2026-03-01T00:00:00Z");

// a busy machine takes its time for 20,000 firings
describe(`${GENERATED} generated expressions`, () => {
  const random = seededRandom(20_261_130);
  const generated = Array.from({ length: GENERATED }, () => ({
    expression: generateCron(random),
    zone: ZONES[Math.floor(random() * ZONES.length)] ?? "UTC",
    after: START + Math.floor(random() * 365 * 1440) * 60_000,
  }));

  it("fire when what EventBridge is told fires, when clocks change too", () => {
    for (const { expression, zone, after } of generated) {
      const cron = parseCron(expression);
      const { expressions, firesMore } = toEventBridge(cron);
      const told = eventBridgeFirings(expressions, zone, after, FIRINGS, (time) =>
        firesMore ? isFiring(cron, zone, time) : true,
      );
      expect({ expression, zone, times: iso(nextFirings(cron, zone, after, FIRINGS)) }).toEqual({
        expression,
        zone,
        times: iso(told),
      });
    }
  }, 300_000);

  it("fire when croner says so, where no clock changes", () => {
    for (const { expression, after } of generated) {
      const cron = parseCron(expression);
      const croner = new Croner(expression, {
        timezone: "UTC",
        paused: true,
        mode: "5-part",
        domAndDow: cron.daysFit === "both",
      });
      const expected = croner.nextRuns(FIRINGS, new Date(after)).map((date) => date.getTime());
      expect({ expression, times: iso(nextFirings(cron, "UTC", after, FIRINGS)) }).toEqual({
        expression,
        times: iso(expected),
      });
    }
  }, 300_000);
});

import { expect, test } from "vitest";
import { feedDate, latestTimeOf, w3cDatetime } from "../../../../shared/crawl/discovery/list-dates.ts";

test.each([
  "1997",
  "1997-07",
  "1997-07-16",
  "2024-02-29",
  "2000-02-29",
  "1997-07-16T19:20+01:00",
  "1997-07-16T19:20:30Z",
  "1997-07-16T19:20:30.45-05:30",
  "1997-07-16T19:20:30.123456789012Z",
])("%s is a W3C datetime", (text) => {
  expect(w3cDatetime(text)).toBe(text);
});

test.each([
  "",
  "97",
  "1997-13",
  "1997-00",
  "2023-02-29",
  "1900-02-29",
  "1997-07-16T19:20",
  "1997-07-16T24:20Z",
  "1997-07-16T19:60Z",
  "1997-07-16T19:20:30+24:00",
  "1997-07-16 19:20:30Z",
  "16.07.1997",
  "1997-07-16T19:20:30Z; drop",
])("%j is none", (text) => {
  expect(w3cDatetime(text)).toBeNull();
});

test("dates of feeds come in the forms of RFC 822 and W3C", () => {
  expect(feedDate("Wed, 02 Oct 2002 13:00:00 GMT")).toBe("2002-10-02T13:00:00.000Z");
  expect(feedDate("2 Oct 02 15:00 +0200")).toBe("2002-10-02T13:00:00.000Z");
  expect(feedDate("2002-10-02")).toBe("2002-10-02");
  expect(feedDate("Wed, 42 Oct 2002 13:00:00 GMT")).toBeNull();
  expect(feedDate("1")).toBeNull();
  expect(feedDate("Tue, 31 Feb 2024 10:00:00 GMT")).toBeNull();
  expect(feedDate("Thu, 29 Feb 2024 23:30:00 -0500")).toBe("2024-03-01T04:30:00.000Z");
});

test.each([
  ["2026-11-30 12:00:00", "2026-11-30T12:00:00Z"],
  ["2026-11-30T12:00:00", "2026-11-30T12:00:00Z"],
  ["2026-11-30T12:00:00+0100", "2026-11-30T12:00:00+01:00"],
  ["2026-11-30 12:00:00 UTC", "2026-11-30T12:00:00Z"],
  ["2026-11-30 12:00:00,5 -05", "2026-11-30T12:00:00.5-05:00"],
  ["Monday, 30-Nov-26 12:00:00 GMT", "2026-11-30T12:00:00Z"],
  ["Mon Nov 30 12:00:00 2026", "2026-11-30T12:00:00Z"],
  ["Nov 3, 2026", "2026-11-03"],
  ["30 November 2026", "2026-11-30"],
  ["30 Nov 99 9:05", "1999-11-30T09:05Z"],
])("the date of a feed may be written as %s", (written, read) => {
  expect(feedDate(written)).toBe(read);
});

test.each(["2026-13-30 12:00:00", "31 Feb 2026", "Mon Foo 30 12:00:00 2026", "2026-11-30 25:00:00"])(
  "%s is no date",
  (written) => expect(feedDate(written)).toBeNull(),
);

test.each([
  ["2026", "2026-12-31T23:59:59.999Z"],
  ["2026-02", "2026-02-28T23:59:59.999Z"],
  ["2026-12-31", "2026-12-31T23:59:59.999Z"],
  ["2026-12-31T10:00:00+01:00", "2026-12-31T09:00:00.000Z"],
])("the latest time that %s may mean", (date, latest) => {
  expect(new Date(latestTimeOf(date)).toISOString()).toBe(latest);
});

import { expect, test } from "vitest";
import { feedDate, w3cDatetime } from "../../../../shared/crawl/discovery/list-dates.ts";

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

import { expect, it } from "vitest";
import { byteRange } from "../../../../shared/archive/replay/byte-range.ts";

const whole = undefined;

it.each([
  ["bytes=0-0", { first: 0, last: 0 }],
  ["bytes=0-", { first: 0, last: 9 }],
  ["bytes=9-", { first: 9, last: 9 }],
  ["bytes=3-5", { first: 3, last: 5 }],
  ["bytes=3-99", { first: 3, last: 9 }],
  ["bytes=3-99999999999999999999999999", { first: 3, last: 9 }],
  ["bytes=-1", { first: 9, last: 9 }],
  ["bytes=-10", { first: 0, last: 9 }],
  ["bytes=-99999999999999999999999999", { first: 0, last: 9 }],
  ["Bytes = 1 - 2", { first: 1, last: 2 }],
  ["bytes=10-", "beyond"],
  ["bytes=10-20", "beyond"],
  ["bytes=99999999999999999999999999-", "beyond"],
  ["bytes=-0", "beyond"],
  // not valid, or of a unit that is not known, or of several parts, which a server may ignore
  ["bytes=5-3", whole],
  ["bytes=-", whole],
  ["bytes=", whole],
  ["bytes", whole],
  ["bytes=a-b", whole],
  ["bytes=0x1-0x2", whole],
  ["bytes=1.5-2", whole],
  ["bytes=--1", whole],
  ["bytes=0-0,2-3", whole],
  ["bytes=0-0,", whole],
  ["lines=0-1", whole],
  ["", whole],
  [undefined, whole],
] as const)("of ten bytes %j is %j", (header, range) => {
  expect(byteRange(header, 10)).toEqual(range);
});

it.each([
  ["bytes=0-", "beyond"],
  ["bytes=0-0", "beyond"],
  ["bytes=-0", "beyond"],
  // it can be satisfied (RFC 9110, section 14.1.2), and no Content-Range can say so
  ["bytes=-5", whole],
] as const)("of no bytes %j is %j", (header, range) => {
  expect(byteRange(header, 0)).toEqual(range);
});

it("takes no longer with a header of many digits or blanks", () => {
  const many = "1".repeat(100_000);
  expect(byteRange(`bytes=${many}-${many}`, 10)).toBe("beyond");
  expect(byteRange(`bytes=${" ".repeat(100_000)}1`, 10)).toBeUndefined();
  expect(byteRange(`${" ".repeat(100_000)}bytes=1-`, 10)).toEqual({ first: 1, last: 9 });
});

import { expect, test } from "vitest";
import { parseArray, serializeArray } from "../../../../shared/platform/database/arrays.ts";

const text = (each: string): string => each;

test.each([
  ["{}", []],
  ["{a,b c,NULL}", ["a", "b c", null]],
  ['{"NULL","",",","{}","\\"\\\\"}', ["NULL", "", ",", "{}", '"\\']],
  ['{"two\nlines","\u{1F30A}"}', ["two\nlines", "\u{1F30A}"]],
  [
    "{{a,b},{c,d}}",
    [
      ["a", "b"],
      ["c", "d"],
    ],
  ],
])("the array %j is read, and written so that it reads the same", (written, elements) => {
  expect(parseArray(written, text)).toEqual(elements);
  expect(parseArray(serializeArray(elements), text)).toEqual(elements);
});

test("elements are of their type", () => {
  expect(parseArray("{1,-2.5,NULL}", Number)).toEqual([1, -2.5, null]);
  expect(serializeArray([1, true, new Date(0), "x"])).toBe('{"1","true","1970-01-01T00:00:00.000Z","x"}');
  expect(() => serializeArray([undefined])).toThrow("undefined");
});

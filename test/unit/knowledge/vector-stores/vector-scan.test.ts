import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ByteRows } from "../../../../shared/knowledge/vector-stores/vector-scan.ts";

const bitsOf = (byte: number): number => byte.toString(2).replaceAll("0", "").length;
/** The same numbers in each run. */
const pseudoRandom = (row: number, at: number): number => (Math.imul(row * 2_017 + at + 1, 0x9e3779b1) >>> 13) & 255;

/** More rows than one call compares, and more than the memory begins with. */
function manyRows(length: number): { rows: ByteRows; bytes: Uint8Array[] } {
  const rows = new ByteRows(length);
  const bytes = Array.from({ length: 10_000 }, (_, row) =>
    Uint8Array.from({ length }, (_each, at) => pseudoRandom(row, at)),
  );
  for (const each of bytes) rows.add(each);
  return { rows, bytes };
}

describe.each([1, 12, 16, 32, 100, 192])("rows of %i bytes", (length) => {
  const { rows, bytes } = manyRows(length);

  test("the differing bits are those that are counted one by one", () => {
    const query = Uint8Array.from({ length }, (_, at) => pseudoRandom(77_777, at));
    const expected = bytes.map((row) => row.reduce((sum, byte, at) => sum + bitsOf(byte ^ (query[at] ?? 0)), 0));
    expect([...rows.distances(query)]).toEqual(expected);
    expect(rows.distances(bytes[9_999] ?? query)[9_999]).toBe(0);
  });

  test("the products are those that are added up one by one, for any rows in any order", () => {
    const query = Int16Array.from({ length }, (_, at) => (pseudoRandom(55_555, at) - 128) * 80);
    const asked = Array.from({ length: 9_000 }, (_, at) => (at * 7_919) % 10_000);
    const expected = asked.map((row) =>
      Int8Array.from(bytes[row] ?? []).reduce((sum, byte, at) => sum + byte * (query[at] ?? 0), 0),
    );
    expect([...rows.products(query, asked)]).toEqual(expected);
    expect([...rows.products(query, [])]).toEqual([]);
  });
});

test("a shorter or an empty query leaves nothing of the one before", () => {
  const rows = new ByteRows(20);
  rows.add(new Uint8Array(20).fill(255));
  expect([...rows.distances(new Uint8Array(20).fill(255))]).toEqual([0]);
  expect([...rows.distances(new Uint8Array(4).fill(255))]).toEqual([128]);
  expect([...rows.products(new Int16Array(20).fill(3), [0])]).toEqual([-60]);
  expect([...rows.products(new Int16Array(0), [0])]).toEqual([0]);
});

test("the largest numbers of the longest rows do not run over", () => {
  fc.assert(
    fc.property(fc.constantFrom(256, 1024, 4096, 8192), fc.constantFrom(127, -127), (length, number) => {
      const rows = new ByteRows(length);
      rows.add(new Int8Array(length).fill(number));
      const most = Math.min(32_767, Math.floor((2 ** 31 - 1) / (127 * length)));
      expect([...rows.products(new Int16Array(length).fill(most), [0])]).toEqual([most * number * length]);
      rows.add(new Uint8Array(length).fill(255));
      expect(rows.distances(new Uint8Array(length))[1]).toBe(8 * length);
    }),
    { numRuns: 16 },
  );
  expect(() => new ByteRows(8193)).toThrow("too long");
});

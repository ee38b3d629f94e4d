import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { recallQueries } from "../../../../shared/knowledge/search/keyword-search.ts";
import { BinaryIndex, binaryCode } from "../../../../shared/knowledge/vector-stores/binary-codes.ts";

const term = (lexeme: string, chunks: number) => ({ lexeme, chunks, idf: 1 });

describe("which chunks keyword search looks at", () => {
  test("all that hold any of its words, where these are rare", () => {
    expect(recallQueries([term("krill", 3), term("whale", 40)], null)).toEqual({
      rare: "'krill' | 'whale'",
      together: "",
      alone: "",
      furtherLimit: 379,
    });
  });

  test("common words first where they stand together with others", () => {
    const terms = [term("krill", 700), term("whale", 4_000), term("ocean", 60_000), term("water", 80_000)];
    expect(recallQueries(terms, null)).toMatchObject({
      rare: "'krill'",
      together: "'whale' & ('ocean' | 'water')",
      alone: "'whale'",
      furtherLimit: 100,
    });
  });

  test("a condition binds every part, and quotes stay quotes", () => {
    expect(recallQueries([term("o'reilly", 3), term("c\\path", 5_000)], "!('gun')")).toMatchObject({
      rare: "('o''reilly') & !('gun')",
      together: "",
      alone: "('c\\\\path') & !('gun')",
    });
  });
});

describe("binary codes", () => {
  const vectors = fc.array(
    fc
      .array(fc.float({ min: -1, max: 1, noNaN: true }), { minLength: 40, maxLength: 40 })
      .map((v) => Float32Array.from(v)),
    { minLength: 1, maxLength: 60 },
  );
  const distance = (a: Float32Array, b: Float32Array) =>
    a.reduce((sum, value, at) => sum + Number(value > 0 !== (b[at] ?? 0) > 0), 0);

  test("the nearest are those whose signs differ least", () => {
    fc.assert(
      fc.property(vectors, fc.integer({ min: 1, max: 20 }), (all, count) => {
        const index = new BinaryIndex(40);
        for (const [id, vector] of all.entries()) index.add(id, binaryCode(vector), "d", null);
        const query = all[0] ?? new Float32Array(40);
        const found = new Set(index.nearest(binaryCode(query), count, {}));
        const furthestFound = Math.max(...[...found].map((id) => distance(query, all[id] ?? query)));
        expect(found.size).toBeGreaterThanOrEqual(Math.min(count, all.length));
        for (const [id, vector] of all.entries()) {
          if (!found.has(id)) expect(distance(query, vector)).toBeGreaterThan(furthestFound);
        }
      }),
    );
  });

  test("counts the differing signs of long vectors, up to all of them", () => {
    const dimension = 1100;
    const index = new BinaryIndex(dimension);
    const withPositives = (count: number) =>
      binaryCode(new Float32Array(dimension).fill(1, 0, count).map((v) => v || -1));
    for (let count = 0; count <= dimension; count += 100) index.add(count, withPositives(count), "d", null);
    expect(index.nearest(withPositives(dimension), 3, {})).toEqual([900, 1000, 1100]);
    expect(index.nearest(withPositives(0), 3, {})).toEqual([0, 100, 200]);
  });

  test("filters by domain and collection, also by ones that nobody has", () => {
    const index = new BinaryIndex(2);
    const code = binaryCode(Float32Array.of(1, 1));
    for (let id = 0; id < 3000; id++) index.add(id, code, `d${id % 3}`, id % 2 === 0 ? null : "c");
    expect(index.nearest(code, 10, { domains: ["d1"], collections: ["c"] }).every((id) => id % 6 === 1)).toBe(true);
    expect(index.nearest(code, 10, { domains: ["d1", "d2"] })).toHaveLength(2000);
    expect(index.nearest(code, 10, { domains: ["nowhere"] })).toEqual([]);
    expect(index.nearest(code, 10, { collections: ["d1"] })).toEqual([]);
  });
});

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { gradedLexeme, lengthLexeme } from "../../../../shared/knowledge/analysis/grades.ts";
import { countedLexemes, gradedQueries } from "../../../../shared/knowledge/search/graded-recall.ts";
import { atLeast, recallSteps, type Term } from "../../../../shared/knowledge/search/recall.ts";
import { BinaryIndex, binaryCode } from "../../../../shared/knowledge/vector-stores/binary-codes.ts";
import { ByteVectors } from "../../../../shared/knowledge/vector-stores/byte-vectors.ts";

const term = (lexeme: string, chunks: number, weight: number): Term => ({
  query: `'${lexeme}'`,
  lexemes: [lexeme],
  chunks,
  weight,
});

describe("which chunks keyword search looks at", () => {
  const first = (terms: Term[], condition: string | null = null, filtered = false) =>
    recallSteps(terms, 100_000, condition, filtered)[0]?.queries ?? [];

  test("all that hold any of its words, where these are rare", () => {
    const terms = [term("krill", 3, 9), term("whale", 40, 7)];
    expect(recallSteps(terms, 100_000, null, false)).toEqual([
      {
        queries: [{ query: "('krill' | 'whale')", limit: 600, scanned: false, expected: expect.closeTo(43, 0) }],
        last: true,
      },
    ]);
  });

  test("first those that hold the most valuable words together", () => {
    const terms = [term("krill", 4_000, 3), term("whale", 10_000, 2.3), term("water", 60_000, 0.5)];
    expect(first(terms)).toMatchObject([
      { query: "('krill' & ('whale' & ('water')))", limit: 600, scanned: false },
      { query: "('krill' & ('whale')) & !('krill' & ('whale' & ('water')))", limit: 600, scanned: false },
    ]);
  });

  test("all that hold the one rare word, and none of the many that hold the others", () => {
    const terms = [term("krill", 465, 5.4), term("whale", 31_000, 1.2), term("water", 93_000, 0.1)];
    expect(first(terms).map(({ query }) => query)).toEqual([
      "('krill' & ('whale' & ('water')))",
      "('krill') & !('krill' & ('whale' & ('water')))",
    ]);
  });

  test("then, where these are too few, those that hold less, down to any of the words, each once", () => {
    const terms = [term("car", 5_000, 3), term("automobile", 5_000, 3)];
    const steps = recallSteps(terms, 100_000, "!('gun')", false);
    expect(steps.map(({ queries, last }) => [queries.map(({ query }) => query), last])).toEqual([
      [["('car' & ('automobile')) & !('gun')"], false],
      [["('car' | 'automobile') & !('car' & ('automobile')) & !('gun')"], true],
    ]);
  });

  test("in the end those that hold none of the words that decide", () => {
    const terms = Array.from({ length: 10 }, (_, at) => term(`w${at}`, 1_000 * (at + 1), 5 - at / 4));
    const last = recallSteps(terms, 100_000, null, false).at(-1);
    expect(last).toMatchObject({
      last: true,
      queries: [{ query: expect.stringMatching(/^\('w0' \| .* \| 'w9'\) & !/) }],
    });
  });

  test("some of the many that hold a common word, read one after the other unless something else may hide them", () => {
    const terms = [term("water", 60_000, 0.5)];
    const scanned = (condition: string | null, filtered: boolean) =>
      first(terms, condition, filtered).map((query) => [query.scanned, query.limit]);
    expect(scanned(null, false)).toEqual([[true, 600]]);
    expect(scanned("!('gun')", false)).toEqual([[false, 600]]);
    expect(scanned(null, true)).toEqual([[false, 600]]);
  });

  test("a condition binds every part", () => {
    expect(first([term("krill", 3, 9)], "!('gun')")).toMatchObject([{ query: "('krill') & !('gun')" }]);
  });

  test("a threshold lets through exactly what holds so much", () => {
    const weights = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(weights, fc.integer({ min: 1, max: 60 }), fc.integer({ min: 0, max: 255 }), (all, least, held) => {
        const terms = all.toSorted((a, b) => b - a).map((weight, at) => term(`t${at}`, 1, weight));
        const query = atLeast(terms, least);
        const holds = (at: number) => ((held >> at) & 1) === 1;
        const sum = terms.reduce((total, { weight }, at) => total + (holds(at) ? weight : 0), 0);
        // `&` binds closer than `|` in both languages
        const boolean = query
          ?.replaceAll(/'t(\d)'/g, (_, at) => String(holds(Number(at))))
          .replaceAll("&", "&&")
          .replaceAll("|", "||");
        const matches = boolean === undefined ? false : boolean === "" ? true : evaluate(boolean);
        expect(matches).toBe(sum >= least);
      }),
    );
  });
});

describe("of more than are ranked, first those that can score most", () => {
  const ask = (terms: Term[], counts: Record<string, number>, condition: string | null = null) =>
    gradedQueries(terms, 100_000, new Map(Object.entries(counts)), condition);
  const usual = { [lengthLexeme(8)]: 500, [lengthLexeme(12)]: 1_500, [lengthLexeme(30)]: 98_000 };
  const graded = (lexeme: string, counts: number[]) =>
    Object.fromEntries(counts.map((count, below) => [gradedLexeme(5 - below, lexeme), count]));

  test("by one word: its grades down to enough, each query with as many as it may find", () => {
    expect(ask([term("krill", 20_000, 3)], { ...usual, ...graded("krill", [40, 90, 700, 2_000, 5_000]) })).toEqual({
      queries: [
        { query: "(('5^krill' | '4^krill'))", limit: 600, scanned: false, expected: expect.closeTo(130) },
        expect.objectContaining({ query: "(('5^krill' | '4^krill' | '3^krill')) & !(('5^krill' | '4^krill'))" }),
      ],
      found: "('5^krill' | '4^krill' | '3^krill')",
    });
  });

  test("by one word that stands out in few: then the shortest, too", () => {
    const found = ask([term("krill", 20_000, 3)], { ...usual, ...graded("krill", [0, 0, 3]) }, "!'gun'");
    expect(found?.queries.map(({ query }) => query)).toEqual(["(('3^krill' | 'krill' & ('^8' | '^12'))) & !'gun'"]);
  });

  test("by two words: what both stand out in, before what one does", () => {
    const terms = [term("krill", 20_000, 3), term("whale", 30_000, 2)];
    const found = ask(terms, { ...graded("krill", [2_100]), ...graded("whale", [3_000]) });
    expect(found?.queries.map(({ query }) => query)).toEqual([
      "(('5^krill') & (('5^whale')))",
      "(('5^krill') & ('whale')) & !(('5^krill') & (('5^whale')))",
    ]);
  });

  test("nothing, where no word stands out anywhere", () => {
    expect(ask([term("krill", 20_000, 3)], { [lengthLexeme(30)]: 100_000 })).toBeNull();
  });

  test("rare words have no grades that anybody asks for", () => {
    expect(countedLexemes([term("krill", 600, 3)])).toEqual([]);
    expect(countedLexemes([term("krill", 601, 3)])).toContain("5^krill");
  });
});

/** Of `true`, `false`, `&&`, `||` and parentheses. */
function evaluate(expression: string): boolean {
  const tokens = expression.match(/true|false|&&|\|\||[()]/g) ?? [];
  let at = 0;
  const either = (): boolean => {
    let value = both();
    while (tokens[at] === "||") {
      at++;
      const right = both();
      value = value || right;
    }
    return value;
  };
  const both = (): boolean => {
    let value = single();
    while (tokens[at] === "&&") {
      at++;
      const right = single();
      value = value && right;
    }
    return value;
  };
  const single = (): boolean => {
    const token = tokens[at++];
    if (token !== "(") return token === "true";
    const value = either();
    at++;
    return value;
  };
  return either();
}

describe("binary codes", () => {
  const labels = { domain: "d", collection: null, document: "p", tags: [], language: null, source: null, minute: null };
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
        for (const vector of all) index.add(binaryCode(vector), labels);
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
    for (let count = 0; count <= dimension; count += 100) index.add(withPositives(count), labels);
    expect(index.nearest(withPositives(dimension), 3, {})).toEqual([9, 10, 11]);
    expect(index.nearest(withPositives(0), 3, {})).toEqual([0, 1, 2]);
  });

  test("filters by domain, collection and document, also by ones that nobody has", () => {
    const index = new BinaryIndex(2);
    const code = binaryCode(Float32Array.of(1, 1));
    for (let id = 0; id < 3000; id++) {
      index.add(code, {
        domain: `d${id % 3}`,
        collection: id % 2 === 0 ? null : "c",
        document: `p${id % 5}`,
        tags: [],
        language: `d${id % 2}`,
        source: null,
        minute: null,
      });
    }
    expect(index.nearest(code, 10, { domains: ["d1"], collections: ["c"] }).every((id) => id % 6 === 1)).toBe(true);
    expect(index.nearest(code, 10, { domains: ["d1", "d2"] })).toHaveLength(2000);
    expect(index.nearest(code, 10, { domains: ["d1"], documents: ["p2"] }).every((id) => id % 15 === 7)).toBe(true);
    expect(index.nearest(code, 10, { documents: ["p2", "p3", "nowhere"] })).toHaveLength(1200);
    expect(index.nearest(code, 10, { domains: ["nowhere"] })).toEqual([]);
    expect(index.nearest(code, 10, { collections: ["d1"] })).toEqual([]);
    expect(index.nearest(code, 10, { languages: ["d1"], domains: ["d2"] }).every((id) => id % 6 === 5)).toBe(true);
    expect(index.nearest(code, 10, { languages: ["d2"] })).toEqual([]);
  });

  test("filters by language, source and minute, and leaves in those of which nobody knows them", () => {
    const label = fc.option(fc.constantFrom("a", "b", "c"));
    const minute = fc.option(fc.integer({ min: 0, max: 9 }));
    const labelled = fc.record({ language: label, source: label, minute });
    const bound = fc.option(fc.integer({ min: 0, max: 9 }), { nil: undefined });
    fc.assert(
      fc.property(fc.array(labelled, { minLength: 1 }), bound, bound, (all, fromMinute, toMinute) => {
        const index = new BinaryIndex(2);
        const code = binaryCode(Float32Array.of(1, 1));
        for (const each of all) index.add(code, { ...labels, ...each });
        const rows = (fits: (each: (typeof all)[number]) => boolean) =>
          all.flatMap((each, at) => (fits(each) ? [at] : []));
        const found = index.nearest(code, all.length, {
          languages: ["a", "none"],
          sources: ["b", "c"],
          fromMinute,
          toMinute,
        });
        expect(found).toEqual(
          rows(
            ({ language, source, minute: at }) =>
              (language ?? "a") === "a" &&
              (source ?? "b") !== "a" &&
              (at === null || (at >= (fromMinute ?? 0) && at <= (toMinute ?? 9))),
          ),
        );
      }),
    );
  });

  test("filters by any and by all of some tags, and leaves in whose tags nobody knows", () => {
    const tags = fc.subarray(["a", "b", "c", "d"]);
    const asked = fc.subarray(["a", "b", "none"]);
    fc.assert(
      fc.property(fc.array(fc.option(tags), { minLength: 1 }), asked, asked, (all, anyTag, allTags) => {
        const index = new BinaryIndex(2);
        const code = binaryCode(Float32Array.of(1, 1));
        for (const each of all) index.add(code, { ...labels, tags: each?.toReversed() ?? null });
        const numbers = (fits: (tags: string[]) => boolean) =>
          [...all.keys()].filter((at) => all[at] === null || fits(all[at] ?? []));
        const any = (each: string[]) => anyTag.some((tag) => each.includes(tag));
        const every = (each: string[]) => allTags.every((tag) => each.includes(tag));
        expect(index.nearest(code, 10, { anyTag })).toEqual(numbers(any));
        expect(index.nearest(code, 10, { allTags })).toEqual(numbers(every));
        expect(index.nearest(code, 10, { anyTag, allTags })).toEqual(numbers((each) => any(each) && every(each)));
      }),
    );
  });
});

describe("vectors of bytes", () => {
  const cosine = (a: Float32Array, b: Float32Array) =>
    a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0) / (Math.hypot(...a) * Math.hypot(...b));
  const number = fc.double({ min: -1, max: 1, noNaN: true });
  const vector = fc
    .array(number, { minLength: 32, maxLength: 32 })
    .map((v) => Float32Array.from(v))
    .filter((v) => Math.hypot(...v) > 0.1);

  test("what is left out is no nearer than what is found, but for a rounding", () => {
    fc.assert(
      fc.property(
        fc.array(vector, { minLength: 2, maxLength: 50 }),
        vector,
        fc.integer({ min: 1, max: 20 }),
        (all, query, count) => {
          const vectors = new ByteVectors(32);
          for (const [at, each] of all.entries()) vectors.add(each.map((value) => value * (at + 1)));
          const rows = all.map((_, row) => row).filter((row) => row % 3 !== 2);
          const best = new Set(vectors.best(query, rows, count));
          expect(best.size).toBeGreaterThanOrEqual(Math.min(count, rows.length));
          const score = (row: number) => cosine(query, all[row] ?? query);
          const worst = Math.min(...[...best].map(score));
          for (const row of rows) if (!best.has(row)) expect(score(row)).toBeLessThan(worst + 0.03);
        },
      ),
    );
  });

  test("a vector without a direction is far from everything, however many there are", () => {
    const vectors = new ByteVectors(2);
    for (let row = 0; row < 3000; row++) vectors.add(Float32Array.of(0, row === 2500 ? 0.2 : 0));
    expect(
      vectors.best(
        Float32Array.of(0, 1),
        Array.from({ length: 3000 }, (_, row) => row),
        1,
      ),
    ).toEqual([2500]);
  });
});

import fc from "fast-check";
import { expect, test } from "vitest";
import { estimateTokens } from "../../../../shared/extract/chunks/tokens.ts";
import { buildContext, type Evidence } from "../../../../shared/knowledge/context/build-context.ts";

const evidence = (rank: number, documentId: string, index: number, more: Partial<Evidence> = {}): Evidence => ({
  ...{ documentId, index, rank, chunkId: `${documentId}${index}`, url: `https://site.example/${documentId}` },
  ...{
    title: null,
    sectionHeader: null,
    section: null,
    content: `Text ${index} of ${documentId}.`,
    start: 100 * index,
  },
  ...{ end: 100 * index + 12, capturedAt: new Date("2026-02-03"), isCaptured: true, score: 1 / rank, source: "fused" },
  ...{ vectorRank: rank, keywordRank: rank, words: [], duplicates: 0 },
  ...more,
});

test("the best stands first, the second best last", () => {
  const all = ["a", "b", "c", "d", "e"].map((documentId, at) => evidence(at + 1, documentId, 0));
  const { passages, leftOut } = buildContext(all, 1_000);
  expect(passages.map(({ number, best }) => [number, best.documentId])).toEqual([
    [1, "a"],
    [2, "c"],
    [3, "e"],
    [4, "d"],
    [5, "b"],
  ]);
  expect(leftOut).toBe(0);
});

test("neighbours are one passage, without what they have in common", () => {
  const { passages, text } = buildContext(
    [
      evidence(1, "a", 2, { content: "two three", start: 4, end: 13, title: "On\ntides" }),
      evidence(2, "a", 5, { content: "far away", start: 60, end: 68 }),
      evidence(3, "a", 1, { content: "one two", start: 0, end: 7, sectionHeader: "Ebb", title: "On\ntides" }),
      evidence(4, "a", 3, { content: "four", start: 15, end: 19 }),
    ],
    1_000,
  );
  expect(passages.map(({ text: shown, parts }) => [shown, parts.map(({ rank }) => rank)])).toEqual([
    ["one two three\n\nfour", [3, 1, 4]],
    ["far away", [2]],
  ]);
  expect(text).toBe(
    "[1] On tides | Ebb | https://site.example/a | 2026-02-03\none two three\n\nfour\n\n" +
      "[2] https://site.example/a | 2026-02-03\nfar away",
  );
});

test("of the best the end is cut off where it alone is too long", () => {
  const content = "The tide turns twice a day. ".repeat(50);
  const { passages, tokens, leftOut } = buildContext(
    [evidence(1, "a", 0, { content, end: content.length }), evidence(2, "b", 0)],
    100,
  );
  expect(passages).toMatchObject([{ isCut: true }]);
  expect(content.startsWith(passages[0]?.text ?? "-")).toBe(true);
  expect(tokens).toBeLessThanOrEqual(100);
  expect(tokens).toBeGreaterThan(80);
  expect(leftOut).toBe(1);
});

test("what is too long leaves room for what comes behind it", () => {
  const long = evidence(2, "b", 0, { content: "The tide turns. ".repeat(200) });
  const { passages, leftOut } = buildContext([evidence(1, "a", 0), long, evidence(3, "c", 0)], 100);
  expect(passages.map(({ best }) => best.documentId)).toEqual(["a", "c"]);
  expect(leftOut).toBe(1);
});

test("nothing found is an empty context", () => {
  expect(buildContext([], 100)).toEqual({ text: "", tokens: 0, passages: [], leftOut: 0 });
});

test("whatever was found: the budget holds, each passage is there once or left out, numbers go with the text", () => {
  const words = fc.array(fc.constantFrom("tide", "Der Leuchtturm", "潮汐", "42", "x=1;"), {
    minLength: 1,
    maxLength: 80,
  });
  const hits = fc.uniqueArray(
    fc.record({
      documentId: fc.constantFrom("a", "b", "c"),
      index: fc.nat(6),
      content: words.map((each) => each.join(" ")),
    }),
    { selector: ({ documentId, index }) => `${documentId}${index}`, maxLength: 15 },
  );
  fc.assert(
    fc.property(hits, fc.integer({ min: 100, max: 2_000 }), (found, budget) => {
      const all = found.map(({ documentId, index, content }, at) =>
        evidence(at + 1, documentId, index, { content, start: 1_000 * index, end: 1_000 * index + content.length }),
      );
      const { passages, tokens, text, leftOut } = buildContext(all, budget);
      expect(tokens).toBeLessThanOrEqual(budget);
      expect(passages.flatMap(({ parts }) => parts).length + leftOut).toBe(all.length);
      expect(new Set(passages.flatMap(({ parts }) => parts)).size + leftOut).toBe(all.length);
      const blocks = passages.map(({ number, text: shown }) => text.includes(`[${number}] `) && text.includes(shown));
      expect(blocks.every(Boolean)).toBe(true);
      expect(tokens).toBeGreaterThanOrEqual(passages.length === 0 ? 0 : estimateTokens(passages[0]?.text ?? ""));
    }),
  );
});

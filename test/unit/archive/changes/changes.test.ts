import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compareLines, type Hunk } from "../../../../shared/archive/changes/compare-lines.ts";
import { diffHtml } from "../../../../shared/archive/changes/diff-html.ts";
import { diffLines } from "../../../../shared/archive/changes/line-diff.ts";
import { linkCaptures, type PageCapture } from "../../../../shared/archive/changes/link-captures.ts";
import { pageLines } from "../../../../shared/archive/changes/page-lines.ts";
import { extractPage } from "../../../../shared/extract/extract-page.ts";

const linesOf = (html: string) => pageLines(extractPage(html, { url: "https://example.org/" }));
const text = (...lines: string[]) => pageLines({ text: lines.join("\n"), sections: [] });

describe("the steps from one list of lines to another", () => {
  const lines = fc.array(fc.constantFrom("a", "b", "c", "d", "e", "unique 1", "unique 2", "unique 3"), {
    maxLength: 40,
  });

  it("lead from the one to the other, for any two lists", () => {
    fc.assert(
      fc.property(lines, lines, (from, to) => {
        const steps = diffLines(from, to);
        expect(steps.flatMap((step) => step.from ?? [])).toEqual(from.map((_, at) => at));
        expect(steps.flatMap((step) => step.to ?? [])).toEqual(to.map((_, at) => at));
        for (const step of steps) {
          if (step.from !== null && step.to !== null) expect(from[step.from]).toBe(to[step.to]);
        }
      }),
    );
  });

  it("are the fewest where no line is in both once", () => {
    const kept = diffLines([..."abcabba"], [..."cbabac"]).filter(({ from, to }) => from !== null && to !== null);
    expect(kept).toHaveLength(4);
  });

  it("are found for long lists that have nothing in common", () => {
    const many = (name: string) => Array.from({ length: 20_000 }, (_, at) => `${name} ${at % 3_000}`);
    expect(diffLines(many("old"), many("new"))).toHaveLength(40_000);
  });
});

it("takes pages of any number of lines", () => {
  const many = Array.from({ length: 150_000 }, (_, index) => `line ${index}`);
  expect(diffLines(["other"], many)).toHaveLength(150_001);
  const text = `first\n${many.join("\n")}`;
  const sections = [
    { heading: null, level: 0, start: 0, end: 5 },
    { heading: "Title", level: 1, start: 6, end: text.length },
  ];
  expect(pageLines({ text, sections }).lines).toHaveLength(150_001);
});

describe("lines of a page", () => {
  it.each([
    ["white space", "One  two\u00a0three", "One two three"],
    ["soft hyphens and zero-width characters", "in\u00adfor\u200bmation", "information"],
    ["composed and decomposed accents", "Fie\u0300vre", "Fi\u00e8vre"],
    ["UUIDs", "Ref 550e8400-e29b-41d4-a716-446655440000", "Ref 0191d2f0-77aa-4b6c-9f00-0a1b2c3d4e5f"],
    ["hexadecimal tokens", "Ray ID: 8f3a1b2c4d5e6f70", "Ray ID: 1122334455667a8b"],
    ["tokens in base64", "Token aB3dE5fG7hI9jK1lM2nO", "Token Zz9Yy8Xx7Ww6Vv5Uu4Tt"],
    ["seconds of a clock", "Printed at 12:03:44", "Printed at 23:59:59.123"],
  ])("are the same whatever the %s", (_, one, other) => {
    expect(compareLines(text(one), text(other))).toMatchObject({ addedLines: 0, removedLines: 0, hunks: [] });
  });

  it.each([
    ["numbers", "Take 5 mg for 20 seconds", "Take 50 mg for 20 seconds"],
    ["opening hours", "Open 08:00 to 17:30", "Open 08:00 to 18:30"],
    ["long words", "The COVID-19-Vaccination-Programme-2021", "The COVID-19-Vaccination-Programme-2022"],
    ["phone numbers", "Call 0800123456789012345", "Call 0800123456789012346"],
    ["accounts", "Pay to DE89370400440532013000", "Pay to DE02120300000000202051"],
    ["case", "Do NOT eat", "Do not eat"],
    ["accents", "résumé", "resume"],
    ["words of another script", "每天吃两次", "每天吃三次"],
  ])("differ in %s", (_, one, other) => {
    expect(compareLines(text(one), text(other))).toMatchObject({ addedLines: 1, removedLines: 1 });
  });
});

describe("a comparison", () => {
  const article = (...sections: string[]) =>
    linesOf(`<main><h1>Guide</h1><p>What everybody should know about it.</p>${sections.join("")}</main>`);
  const allowed = (what: string) => `<section><h2>Allowed</h2><p>You may take ${what} with it.</p></section>`;
  const forbidden = (what: string) => `<section><h2>Forbidden</h2><p>You may take ${what} with it.</p></section>`;

  it("finds nothing where sections only changed places", () => {
    const one = article(allowed("water"), forbidden("wine"));
    const other = article(forbidden("wine"), allowed("water"));
    expect(compareLines(one, other)).toMatchObject({ addedLines: 0, removedLines: 0, changedSections: 0 });
  });

  it("finds the same words below another heading", () => {
    const one = article(allowed("water"), forbidden("wine"));
    const other = article(allowed("wine"), forbidden("water"));
    expect(compareLines(one, other)).toMatchObject({ addedLines: 2, removedLines: 2, changedSections: 2 });
  });

  it("counts each of several equal lines", () => {
    expect(compareLines(text("a", "a", "b"), text("a", "b", "b", "b"))).toMatchObject({
      addedLines: 2,
      removedLines: 1,
    });
  });

  it("shows a line that moved as moved, beside one that changed", () => {
    const { hunks } = compareLines(text("one", "two", "three", "four"), text("two", "three", "four", "one", "five"));
    expect(hunks.flatMap(({ lines }) => lines)).toEqual([
      ["=", "three"],
      ["=", "four"],
      [">", "one"],
      ["+", "five"],
    ]);
  });

  it("counts before it cuts, for any number of lines", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4_000 }), (count) => {
        const many = Array.from({ length: count }, (_, at) => `line ${at}`);
        const { addedLines, isCut, hunks } = compareLines(text("first"), text("first", ...many));
        const shown = hunks.flatMap((hunk: Hunk) => hunk.lines);
        expect(addedLines).toBe(count);
        expect(isCut).toBe(shown.length < count + 1 && count > 0);
        expect(shown.length).toBeLessThanOrEqual(2_000);
      }),
      { numRuns: 20 },
    );
  });

  it("is HTML without anything of the page but text, whatever the page says", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (one, other) => {
        const { hunks } = compareLines(text(`${one}<b>`), text(`${other}"onload='x'`));
        for (const layout of ["unified", "side-by-side"] as const) {
          const html = diffHtml(hunks, layout);
          expect(
            html.replace(/<\/?(table|tbody|tr|th|td|ins|del)( (class="[a-z -]+"|colspan="2"))*>/g, ""),
          ).not.toMatch(/[<>"']/);
        }
      }),
    );
  });
});

describe("captures of a page", () => {
  const capture = (day: number, status = 200, recordId = `r${day}`): PageCapture => ({
    id: 1000 - day,
    capturedAt: new Date(Date.UTC(2026, 0, day)),
    url: "https://example.org/",
    status,
    recordId,
    payloadDigest: null,
    charset: null,
    truncated: false,
    isRendered: false,
  });
  const all = [1, 2, 3, 4, 5, 6].map((day) => capture(day, day === 3 || day === 4 ? 500 : 200));
  const linked = (captures: readonly PageCapture[]) =>
    linkCaptures("https://example.org/", captures).map(({ id, from, to }) => ({
      id,
      from: from?.capturedAt.getUTCDate() ?? null,
      to: to.capturedAt.getUTCDate(),
    }));

  it("each follow the good one before them", () => {
    expect(linked(all).map(({ from, to }) => [from, to])).toEqual([
      [null, 1],
      [1, 2],
      [2, 3],
      [2, 4],
      [2, 5],
      [5, 6],
    ]);
  });

  it("are linked in one way, whatever their order and their rows", () => {
    fc.assert(
      fc.property(
        fc.shuffledSubarray(all, { minLength: all.length }),
        fc.integer({ min: 1, max: 1e9 }),
        (shuffled, first) => {
          expect(linked(shuffled.map((each, at) => ({ ...each, id: first + at })))).toEqual(linked(all));
        },
      ),
    );
  });

  it("have ids that JSON can hold, each another", () => {
    const many = Array.from({ length: 3_000 }, (_, at) => ({ ...capture(1), id: at, recordId: `r${at}` }));
    const ids = linkCaptures("https://example.org/", many).map(({ id }) => id);
    expect(new Set(ids).size).toBe(3_000);
    expect(ids.every((id) => Number.isSafeInteger(id) && id > 0)).toBe(true);
  });
});

import fc from "fast-check";
import { expect, it } from "vitest";
import { readDiff } from "../../../console/app/views/archive/read-diff.ts";
import { diffHtml } from "../../../shared/archive/changes/diff-html.ts";

const KINDS = { "=": "same", "+": "added", "-": "removed", ">": "moved" } as const;

it("gives each line of a difference back as it was, whatever markup its text holds", () => {
  const lines = fc.array(fc.tuple(fc.constantFrom("=", "+", "-", ">"), fc.string({ unit: "grapheme" })), {
    minLength: 1,
  });
  fc.assert(
    fc.property(lines, (given) => {
      const [place, ...read] = readDiff(diffHtml([{ from: 1, to: 2, lines: given }], "unified"));
      expect(place).toEqual({ kind: "place", text: "1 → 2" });
      expect(read).toEqual(given.map(([kind, text]) => ({ kind: KINDS[kind], text })));
    }),
  );
});

it("shows a tag in a page's text as its characters", () => {
  const html = diffHtml([{ from: 1, to: 1, lines: [["+", `<img src=x onerror="go()"> &amp;lt;`]] }], "unified");
  expect(readDiff(html).at(-1)).toEqual({ kind: "added", text: `<img src=x onerror="go()"> &amp;lt;` });
});

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { RESULT_FIELDS, selectFields, UnknownFieldError } from "../../../../shared/crawl/results/fields.ts";
import { cutText } from "../../../../shared/platform/text.ts";

const CORE = ["url", "depth", "status_code"];

describe("fields of a page", () => {
  test("without a choice the preset says which: light leaves out content and markdown", () => {
    expect([...selectFields({}, "all")]).toEqual(RESULT_FIELDS);
    expect([...selectFields({}, "light")]).toEqual(
      RESULT_FIELDS.filter((name) => !["content", "markdown"].includes(name)),
    );
  });

  test("include gives these and the core fields, exclude all but those; include wins; the core stays", () => {
    expect(new Set(selectFields({ include: "title,links" }, "all"))).toEqual(new Set([...CORE, "title", "links"]));
    expect(selectFields({ exclude: "content" }, "light").has("markdown")).toBe(true);
    expect(selectFields({ exclude: "content" }, "light").has("content")).toBe(false);
    expect(selectFields({ include: "content", exclude: "content" }, "light").has("content")).toBe(true);
    for (const core of CORE) expect(selectFields({ exclude: CORE.join(",") }, "all").has(core as "url")).toBe(true);
  });

  test("case and blanks do not matter", () => {
    expect(selectFields({ include: " Title ,\tLINKS" }, "all")).toEqual(
      selectFields({ include: "title,links" }, "all"),
    );
  });

  test.each([
    [{ include: "title,Body" }, "include", "body"],
    [{ include: "title", exclude: "nothing" }, "exclude", "nothing"],
    [{ include: "" }, "include", ""],
    [{ exclude: "title,,links" }, "exclude", ""],
    [{ include: "constructor" }, "include", "constructor"],
  ])("an unknown name is an error that says which: %j", (selection, parameter, field) => {
    const error = (() => {
      try {
        return selectFields(selection, "all");
      } catch (caught) {
        return caught;
      }
    })();
    expect(error).toBeInstanceOf(UnknownFieldError);
    expect(error).toMatchObject({ parameter, field, message: expect.stringContaining(`${parameter}: "${field}"`) });
  });
});

test("a cut text is the longest start of whole characters that fits", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 40 }), fc.nat(60), (text, maxBytes) => {
      const { text: kept, cut } = cutText(text, maxBytes);
      expect(text.startsWith(kept)).toBe(true);
      expect(cut).toBe(kept !== text);
      expect(Buffer.byteLength(kept)).toBeLessThanOrEqual(maxBytes);
      expect(kept.isWellFormed()).toBe(text.isWellFormed());
      const next = [...text.slice(kept.length)][0];
      if (next !== undefined) expect(Buffer.byteLength(kept + next)).toBeGreaterThan(maxBytes);
    }),
  );
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { expandPlaceholders, LeftoverPlaceholder } from "../../../shared/harvest/expansion.ts";
import { PLACEHOLDERS } from "../../../shared/harvest/placeholders.ts";
import { InvalidQuery, type NeutralQuery, parseNeutralQuery } from "../../../shared/harvest/query-schema.ts";

const parse = (value: unknown) => parseNeutralQuery(JSON.stringify(value));

describe("what a language model may answer", () => {
  it("is keywords alone, with the defaults of the rest", () => {
    expect(parse({ keywords: ["AI Act"] })).toEqual({ keywords: ["AI Act"], boolean: "AND", filters: {} });
  });

  it("is every field of the schema", () => {
    const whole = {
      keywords: ["AI regulation", "AI Act"],
      boolean: "OR",
      filters: {
        sites: ["example.com", ".eu"],
        date_after: "{LAST_WEEK_START}",
        date_before: "2026-11-28",
        lang: "en",
        geo: "EU",
        max_results: 10,
      },
    };
    expect(parse(whole)).toEqual(whole);
  });

  it.each<[string, string, RegExp]>([
    ["a code fence", '```json\n{"keywords":["a"]}\n```', /not JSON/],
    ["words before the JSON", 'Here it is: {"keywords":["a"]}', /not JSON/],
    ["nothing", "", /not JSON/],
    ["cut JSON", '{"keywords":["a"', /not JSON/],
    ["a list", '["a"]', /object/],
    ["an unknown field", '{"keywords":["a"],"limit":3}', /unknown field limit/],
    ["an unknown filter", '{"keywords":["a"],"filters":{"freshness":"w"}}', /unknown field filters\.freshness/],
    ["no keywords", '{"boolean":"AND"}', /keywords/],
    ["an empty list of keywords", '{"keywords":[]}', /no keyword/],
    ["a blank keyword", '{"keywords":["  "]}', /empty/],
    ["13 keywords", JSON.stringify({ keywords: Array(13).fill("a") }), /more than 12 keywords/],
    ["21 sites", JSON.stringify({ keywords: ["a"], filters: { sites: Array(21).fill("a.eu") } }), /more than 20 sites/],
    ["a lower-case operator", '{"keywords":["a"],"boolean":"or"}', /boolean/],
    [
      "an unknown placeholder",
      '{"keywords":["a"],"filters":{"date_after":"{PAST_2_WEEKS}"}}',
      /^unknown placeholder \{PAST_2_WEEKS\}$/,
    ],
    [
      "a placeholder in lower case",
      '{"keywords":["a"],"filters":{"date_after":"{today}"}}',
      /^unknown placeholder \{today\}$/,
    ],
    ["a placeholder where no date is", '{"keywords":["news {TODAY}"]}', /stray brace/],
    ["an open brace", '{"keywords":["a { b"]}', /stray brace/],
    ["a closing brace in a site", '{"keywords":["a"],"filters":{"sites":["a}.eu"]}}', /sites/],
    ["two placeholders in one", '{"keywords":["a"],"filters":{"date_after":"{TODAY}{TODAY}"}}', /neither a date/],
    ["a day that no month has", '{"keywords":["a"],"filters":{"date_after":"2026-02-30"}}', /neither a date/],
    ["a time", '{"keywords":["a"],"filters":{"date_after":"2026-02-03T00:00:00Z"}}', /neither a date/],
    ["a URL as a site", '{"keywords":["a"],"filters":{"sites":["https://a.eu/x"]}}', /not a domain/],
    ["a language name", '{"keywords":["a"],"filters":{"lang":"english"}}', /language code/],
    ["a region in lower case", '{"keywords":["a"],"filters":{"geo":"us"}}', /region code/],
    ["no results", '{"keywords":["a"],"filters":{"max_results":0}}', /max_results/],
    ["a number as text", '{"keywords":["a"],"filters":{"max_results":"10"}}', /max_results/],
  ])("is not %s", (_what, text, reason) => {
    expect(() => parseNeutralQuery(text)).toThrow(InvalidQuery);
    expect(() => parseNeutralQuery(text)).toThrow(reason);
  });
});

describe("placeholders", () => {
  const dated = (date_after: string, date_before = date_after): NeutralQuery => ({
    keywords: ["a"],
    boolean: "AND",
    filters: { date_after, date_before },
  });

  it.each([
    ["{TODAY}", "2026-03-01"],
    ["{YESTERDAY}", "2026-02-28"],
    ["{LAST_WEEK_START}", "2026-02-22"],
    ["{LAST_WEEK_END}", "2026-03-01"],
    ["{LAST_MONTH_START}", "2026-01-30"],
    ["{LAST_MONTH_END}", "2026-03-01"],
    ["2020-02-29", "2020-02-29"],
  ])("%s is %s on 1 March 2026", (text, day) => {
    expect(expandPlaceholders(dated(text), Date.UTC(2026, 2, 1, 0, 0, 1)).filters).toEqual({
      date_after: day,
      date_before: day,
    });
  });

  it("are days in UTC, whatever the time of day", () => {
    for (const hour of [0, 12, 23.999]) {
      const now = Date.UTC(2026, 10, 28) + hour * 3_600_000;
      expect(expandPlaceholders(dated("{TODAY}"), now).filters.date_after).toBe("2026-11-28");
    }
  });

  it("never stay, on any day and in any pair that is in order", () => {
    const token = fc.constantFrom(...PLACEHOLDERS);
    const now = fc.date({ min: new Date("1971-01-01"), max: new Date("2100-01-01"), noInvalidDate: true });
    fc.assert(
      fc.property(token, token, now, (after, before, day) => {
        let text: string;
        try {
          text = JSON.stringify(expandPlaceholders(dated(after, before), day.getTime()));
        } catch (error) {
          expect(String(error)).toMatch(/is later than/);
          return;
        }
        expect(text.slice(1, -1)).not.toMatch(/\{[A-Z_]+\}/);
        const { date_after = "", date_before = "" } = JSON.parse(text).filters;
        expect(date_after <= date_before).toBe(true);
        expect(Date.parse(date_after)).toBeLessThanOrEqual(day.getTime());
      }),
    );
  });

  it.each(["{NOW}", "2026-{TODAY}", "{", "}"])("that are left over are a hard failure: %s", (text) => {
    expect(() => expandPlaceholders(dated(text), 0)).toThrow(LeftoverPlaceholder);
  });

  it("in the wrong order are refused", () => {
    expect(() => expandPlaceholders(dated("{TODAY}", "{YESTERDAY}"), 1e12)).toThrow(/later than/);
  });
});

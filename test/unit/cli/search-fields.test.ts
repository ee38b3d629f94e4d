import { Command } from "commander";
import { expect, it } from "vitest";
import { z } from "zod";
import { addSearchOptions, SEARCH_FIELDS, searchFields } from "../../../cli/search-fields.ts";
import { searchBodySchema } from "../../../functions/search-api/search-json.ts";

interface Field {
  enum?: string[];
  items?: Field;
  anyOf?: Field[];
}
const { properties = {} } = z.toJSONSchema(searchBodySchema("hybrid"), { io: "input" }) as {
  properties?: Record<string, Field>;
};

/** The values that the field may have, where these are few. */
function choicesOf({ enum: values, items, anyOf = [] }: Field): string[] | undefined {
  return values ?? (items && choicesOf(items)) ?? anyOf.map(choicesOf).find((choices) => choices !== undefined);
}

it("has an option for each field of the API's search, and for nothing else", () => {
  expect(["query", ...SEARCH_FIELDS.map(({ field }) => field)].toSorted()).toEqual(Object.keys(properties).toSorted());
});

it.each(SEARCH_FIELDS.map((each) => [each.flags, each] as const))("offers for %s what the API takes", (_, each) => {
  expect(each.choices).toEqual(choicesOf(properties[each.field] ?? {}));
});

const VALUES: Record<string, string[]> = {
  limit: ["7"],
  domains: ["a.example", "b.example"],
  collection_ids: ["01990000-0000-7000-8000-000000000001"],
  tags: ["sea"],
  tag_ids: ["01990000-0000-7000-8000-000000000002"],
  tag_match: ["all"],
  languages: ["en", "und"],
  source_types: ["crawl", "api"],
  date_from: ["2026-05-01T00:00:00Z"],
  date_to: ["2026-05-02T00:00:00+02:00"],
  url_prefix: ["https://a.example/"],
  min_score: ["-0.5"],
  fusion: ["rrf"],
  rrf_k: ["10"],
  vector_weight: ["2"],
  keyword_weight: ["0.5"],
  expand_chunks: [],
  explain: [],
  facets: ["domain", "tag"],
  collapse_duplicates: [],
  group_by: ["section"],
  use_reranker: [],
  rerank_top_n: ["5"],
  cursor: ["AQ"],
};

it("sends each option as the field that the API takes", () => {
  // they do not go together
  for (const left of [
    ["facets", "group_by"],
    ["cursor", "expand_chunks"],
  ]) {
    const argv = SEARCH_FIELDS.filter(({ field }) => !left.includes(field)).flatMap(({ field, flags }) => {
      const [flag = ""] = flags.split(" ");
      const values = VALUES[field] ?? [];
      return values.length === 0 ? [flag] : values.flatMap((value) => [flag, value]);
    });
    const command = addSearchOptions(new Command()).exitOverride().parse(argv, { from: "user" });
    const fields = searchFields(command.opts());
    expect(Object.keys(fields).toSorted()).toEqual(
      SEARCH_FIELDS.map(({ field }) => field)
        .filter((field) => !left.includes(field))
        .toSorted(),
    );
    const parsed = searchBodySchema("hybrid").parse({ query: "tide", ...fields });
    expect(parsed).toMatchObject({ query: "tide", ...fields });
  }
});

it("sends nothing that was not said", () => {
  expect(searchFields(addSearchOptions(new Command()).parse([], { from: "user" }).opts())).toEqual({});
});

/** What the passages are of, with how many there are: a choice leaves only these. */
import type { Page, SearchRequestFacet, SearchResponse } from "../../api/types.ts";
import { useApi } from "../../api/use-api.ts";
import { number } from "../../parts/text.tsx";
import type { Filters } from "./use-search.ts";

const TITLES = { domain: "Domain", language: "Language", tag: "Tag", collection: "Collection" } as const;
const SHOWN = 8;

export function Facets({
  answer,
  filters,
  choose,
}: {
  answer: SearchResponse | undefined;
  filters: Filters;
  choose(filters: Filters): void;
}) {
  const collections = useApi<Page<{ id: string; name: string }>>("/api/v1/collections?limit=100");
  const nameOf = (facet: SearchRequestFacet, value: string): string =>
    (facet === "collection" ? collections.data?.items.find(({ id }) => id === value)?.name : undefined) ?? value;
  return (
    <div class="facets">
      {(["domain", "language", "tag", "collection"] as const).map((facet) => {
        const values = (answer?.facets?.[facet] ?? []).filter(({ value }) => value !== null).slice(0, SHOWN);
        const chosen = filters[facet];
        if (values.length === 0 && chosen === undefined) return null;
        return (
          <fieldset key={facet}>
            <legend>{TITLES[facet]}</legend>
            {values.map(({ value, count }) => (
              <label class="check" key={value}>
                <input
                  type="checkbox"
                  checked={chosen === value}
                  onChange={({ currentTarget }) =>
                    choose({ ...filters, [facet]: currentTarget.checked ? (value ?? "") : undefined })
                  }
                />
                <span class="address">{nameOf(facet, value ?? "")}</span> <span class="faint">{number(count)}</span>
              </label>
            ))}
            {chosen !== undefined && !values.some(({ value }) => value === chosen) ? (
              <button type="button" onClick={() => choose({ ...filters, [facet]: undefined })}>
                Any, not only {nameOf(facet, chosen)}
              </button>
            ) : null}
          </fieldset>
        );
      })}
      <fieldset>
        <legend>Crawled</legend>
        {(["from", "to"] as const).map((end) => (
          <label key={end}>
            {end}
            <input
              type="date"
              value={filters[end] ?? ""}
              onChange={({ currentTarget }) => choose({ ...filters, [end]: currentTarget.value })}
            />
          </label>
        ))}
      </fieldset>
    </div>
  );
}

/** Search as one types: `#/search?q=…&mode=keyword&domain=…`. */
import { useEffect, useState } from "preact/hooks";
import type { SearchResponse } from "../../api/types.ts";
import { Empty, Fault, View } from "../../parts/page.tsx";
import { number } from "../../parts/text.tsx";
import { hrefOf, type Place, replacePlace } from "../../router.ts";
import { Context } from "./context.tsx";
import { Facets } from "./facets.tsx";
import { Hit } from "./hit.tsx";
import { type Filters, filtersOf, MODES, type Mode, useSearch } from "./use-search.ts";

const TYPING_MS = 250;

export function Search({ place: { query } }: { place: Place }) {
  const asked = query.get("q") ?? "";
  const mode = modeOf(query.get("mode"));
  const filters = filtersOf(query);
  const [typed, setTyped] = useState(asked);
  const show = (changed: { q?: string; mode?: Mode; filters?: Filters }): void => {
    const { q = typed, mode: nextMode = mode, filters: nextFilters = filters } = changed;
    replacePlace(["search"], { q, mode: nextMode === "hybrid" ? "" : nextMode, ...nextFilters });
  };
  useEffect(() => {
    if (typed === asked) return;
    const timer = setTimeout(() => show({ q: typed }), TYPING_MS);
    return () => clearTimeout(timer);
  });
  const { answer, fault, more, isLoading } = useSearch(asked, mode, filters);
  return (
    <View title="Search">
      <search>
        <form class="panel" onSubmit={(event) => event.preventDefault()}>
          <label class="wide">
            What do you look for?
            <input
              type="search"
              value={typed}
              onInput={({ currentTarget }) => setTyped(currentTarget.value)}
              placeholder='words, or "a quoted phrase", or -without'
              autoComplete="off"
            />
          </label>
          <fieldset class="choices">
            <legend>Search by</legend>
            {MODES.map(({ name, title }) => (
              <label class="check" key={name}>
                <input type="radio" name="mode" checked={name === mode} onChange={() => show({ mode: name })} />
                {title}
              </label>
            ))}
          </fieldset>
        </form>
      </search>
      <Fault fault={fault} />
      <p role="status" class="faint">
        {saidOf(asked, answer, isLoading)}
      </p>
      <div class="found">
        <Facets answer={answer} filters={filters} choose={(chosen) => show({ filters: chosen })} />
        <div>
          <Results asked={asked} answer={answer} />
          {more === undefined ? null : (
            <button type="button" onClick={more} disabled={isLoading}>
              Show more
            </button>
          )}
          {asked.trim() === "" ? null : <Context key={asked} query={asked} filters={filters} />}
        </div>
      </div>
    </View>
  );
}

function Results({ asked, answer }: { asked: string; answer: SearchResponse | undefined }) {
  if (asked.trim() === "") {
    return (
      <Empty>
        Type a question or some words. What was crawled is found here; where nothing was,{" "}
        <a href={hrefOf(["crawl"])}>start a crawl</a>.
      </Empty>
    );
  }
  if (answer === undefined) return null;
  if (answer.results.length === 0) {
    return <Empty>No passage matches. Try fewer or other words, or take a filter back.</Empty>;
  }
  return (
    <ol class="hits">
      {answer.results.map((hit) => (
        <Hit key={hit.chunk_id} hit={hit} />
      ))}
    </ol>
  );
}

function saidOf(asked: string, answer: SearchResponse | undefined, isLoading: boolean): string {
  if (asked.trim() === "") return "";
  if (answer === undefined) return isLoading ? "Searching…" : "";
  const missing = answer.missing_sides.map(({ side, reason }) => `; without ${side}: ${reason}`).join("");
  const about = answer.total_exact ? "" : "about ";
  // where nobody has counted, those that came are what is known
  const found = answer.total_count === null ? "the best" : `${about}${number(answer.total_count)}`;
  return `${found} passages in ${Math.round(answer.latency_ms)} ms${missing}`;
}

const modeOf = (text: string | null): Mode => MODES.find(({ name }) => name === text)?.name ?? "hybrid";

/** Search over everything that pages said on any day, in the archive's own query language. */

import { useState } from "preact/hooks";
import { withQuery } from "../../api/client.ts";
import type { ArchiveSearchResponse } from "../../api/types.ts";
import { useApi } from "../../api/use-api.ts";
import { Empty, Fault, Loading, Panel } from "../../parts/page.tsx";
import { LiveLink, number, Time } from "../../parts/text.tsx";
import { goTo, hrefOf } from "../../router.ts";

export function ArchiveSearch({ query }: { query: string }) {
  const [typed, setTyped] = useState(query);
  const { data, fault } = useApi<ArchiveSearchResponse>(
    query === "" ? undefined : withQuery("/api/search", { q: query, pageSize: 20 }),
  );
  return (
    <Panel title="Search all captures">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          goTo(["archive"], { q: typed });
        }}
      >
        <label>
          Words, "a phrase", -without, OR, title:words, url:part
          <input type="search" value={typed} onInput={({ currentTarget }) => setTyped(currentTarget.value)} required />
        </label>
        <button type="submit">Search the archive</button>
      </form>
      <Fault fault={fault} />
      {query !== "" && data === undefined && fault === undefined ? <Loading /> : null}
      {data === undefined ? null : (
        <>
          <p class="faint" role="status">
            {number(data.total)} pages
          </p>
          {data.results.length === 0 ? (
            <Empty>No capture says so. What was captured a moment ago is found after a minute.</Empty>
          ) : (
            <ol class="hits">
              {data.results.map((each) => (
                <li key={each.id}>
                  <a href={hrefOf(["archive"], { url: each.originalUrl, at: String(each.id) })}>
                    {each.title ?? each.originalUrl}
                  </a>
                  <p class="path">
                    <LiveLink url={each.originalUrl} />, <Time at={each.captureTimestamp} />
                  </p>
                  <p class="passage">{each.snippet ?? ""}</p>
                </li>
              ))}
            </ol>
          )}
        </>
      )}
    </Panel>
  );
}

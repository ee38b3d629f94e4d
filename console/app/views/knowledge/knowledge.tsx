/** What can be searched: `#/knowledge?domain=…`, `#/knowledge/ID`. */
import { call, withQuery } from "../../api/client.ts";
import type { Document, DocumentList } from "../../api/types.ts";
import { useBlockList } from "../../lists/use-block-list.ts";
import { type LongColumn, LongTable } from "../../parts/long-table.tsx";
import { Empty, Fault, Panel, View } from "../../parts/page.tsx";
import { LiveLink, Time } from "../../parts/text.tsx";
import { goTo, hrefOf, type Place } from "../../router.ts";
import { Collections } from "./collections.tsx";
import { DocumentView } from "./document.tsx";
import { Generations } from "./generations.tsx";
import { Upload } from "./upload.tsx";

export function Knowledge({ place: { path, query } }: { place: Place }) {
  const id = path[1];
  if (id !== undefined) return <DocumentView key={id} id={id} />;
  const collection = query.get("collection") ?? "";
  const tag = query.get("tag") ?? "";
  const domain = query.get("domain") ?? "";
  return <Documents collection={collection} tag={tag} domain={domain} />;
}

const SIZE = 200;

const COLUMNS: readonly LongColumn<Document>[] = [
  {
    head: "Document",
    width: 48,
    cell: ({ id, title, url }) => (
      <>
        <div>
          <a href={hrefOf(["knowledge", id])}>{title ?? url}</a>
        </div>
        <LiveLink url={url} />
      </>
    ),
  },
  { head: "By", width: 9, cell: ({ source }) => source },
  { head: "Language", width: 10, cell: ({ language }) => language },
  { head: "Tags", width: 13, cell: ({ tags }) => tags.map(({ name }) => name).join(", ") },
  { head: "Read", width: 20, cell: ({ crawled_at }) => <Time at={crawled_at} /> },
];

function Documents({ collection, tag, domain }: { collection: string; tag: string; domain: string }) {
  const query = { collection_id: collection, tags: tag, domain, limit: SIZE };
  const { rows, fault, reload } = useBlockList<Document>(withQuery("/api/v1/documents", query), () => ({
    size: SIZE,
    async read(cursor, signal) {
      // they are counted once, with the first of them
      const path = withQuery("/api/v1/documents", { ...query, cursor, count: cursor === undefined });
      const page = await call<DocumentList>(path, { signal });
      return { items: page.items, next: page.next_cursor, total: page.total ?? undefined };
    },
  }));
  const isFiltered = collection !== "" || tag !== "" || domain !== "";
  return (
    <View title="Knowledge">
      <Collections chosen={collection} />
      <Panel title="Documents">
        <form
          onSubmit={(event) => {
            event.preventDefault();
            const given = new FormData(event.currentTarget);
            goTo(["knowledge"], { collection, tag: String(given.get("tag")), domain: String(given.get("domain")) });
          }}
        >
          <div class="fields">
            <label>
              Domain
              <input type="text" name="domain" defaultValue={domain} />
            </label>
            <label>
              Tag
              <input type="text" name="tag" defaultValue={tag} />
            </label>
          </div>
          <button type="submit">Show these</button>
        </form>
        <Fault fault={fault} />
        {rows.isCounted && rows.count === 0 ? (
          <Empty>
            {isFiltered ? (
              <>
                No document is so. <a href={hrefOf(["knowledge"])}>Show all</a>
              </>
            ) : (
              <>
                No document yet. <a href={hrefOf(["crawl"])}>Crawl a site</a>, or put files below.
              </>
            )}
          </Empty>
        ) : fault !== undefined && !rows.isCounted ? null : (
          <LongTable
            rows={rows}
            columns={COLUMNS}
            label="Documents"
            textOf={({ title, url }) => `${title ?? ""} ${url}`}
          />
        )}
      </Panel>
      <Upload collection={collection} done={reload} />
      <Generations />
    </View>
  );
}

/** What can be searched: `#/knowledge?domain=…`, `#/knowledge/ID`. */
import { withQuery } from "../../api/client.ts";
import { usePages } from "../../api/use-api.ts";
import { Listed, Panel, View } from "../../parts/page.tsx";
import { Table } from "../../parts/table.tsx";
import { LiveLink, Time } from "../../parts/text.tsx";
import { goTo, hrefOf, type Place } from "../../router.ts";
import { Collections } from "./collections.tsx";
import { DocumentView } from "./document.tsx";
import type { StoredDocument } from "./document-types.ts";
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

function Documents({ collection, tag, domain }: { collection: string; tag: string; domain: string }) {
  const list = withQuery("/api/v1/documents", { collection_id: collection, tags: tag, domain, limit: 50 });
  const pages = usePages<StoredDocument>(list);
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
        <Listed
          pages={pages}
          empty={
            isFiltered ? (
              <>
                No document is so. <a href={hrefOf(["knowledge"])}>Show all</a>
              </>
            ) : (
              <>
                No document yet. <a href={hrefOf(["crawl"])}>Crawl a site</a>, or put files below.
              </>
            )
          }
        >
          {(documents) => (
            <Table
              items={documents}
              keyOf={(document) => document.id}
              columns={[
                {
                  head: "Document",
                  cell: ({ id, title, url }) => (
                    <>
                      <a href={hrefOf(["knowledge", id])} class="title">
                        {title ?? url}
                      </a>
                      <div>
                        <LiveLink url={url} />
                      </div>
                    </>
                  ),
                },
                { head: "By", cell: ({ source }) => source },
                { head: "Language", cell: ({ language }) => language },
                { head: "Tags", cell: ({ tags }) => tags.map(({ name }) => name).join(", ") },
                { head: "Read", cell: ({ crawled_at }) => <Time at={crawled_at} /> },
              ]}
            />
          )}
        </Listed>
      </Panel>
      <Upload collection={collection} done={pages.reload} />
      <Generations />
    </View>
  );
}

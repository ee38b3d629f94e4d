/** One document as search sees it: its sections and its passages. */

import { call } from "../../api/client.ts";
import type { Chunk, DocumentDetails, SectionList } from "../../api/types.ts";
import { useApi, usePages } from "../../api/use-api.ts";
import { Confirm } from "../../parts/confirm.tsx";
import { Does } from "../../parts/does.tsx";
import { SmallForm } from "../../parts/form.tsx";
import { Fault, Listed, Panel, View } from "../../parts/page.tsx";
import { LiveLink, number, Time } from "../../parts/text.tsx";
import { goTo, hrefOf } from "../../router.ts";

export function DocumentView({ id }: { id: string }) {
  const path = `/api/v1/documents/${encodeURIComponent(id)}`;
  const { data: document, fault, reload } = useApi<DocumentDetails>(path);
  const sections = useApi<SectionList>(`${path}/sections`);
  const chunks = usePages<Chunk>(`${path}/chunks?limit=50`);
  return (
    <View
      title={document?.title ?? "Document"}
      actions={
        <Confirm
          label="Delete document"
          question="Delete this document?"
          act={async () => {
            await call(path, { method: "DELETE" });
            goTo(["knowledge"]);
          }}
        >
          <p>It is found no more, and stays away when its page is crawled again. The archive keeps the page.</p>
        </Confirm>
      }
    >
      <Fault fault={fault} />
      {document === undefined ? null : <About document={document} path={path} reload={reload} />}
      <Panel title="Sections">
        <Fault fault={sections.fault} />
        <ul>
          {(sections.data?.sections ?? []).map(({ position, heading, level }) => (
            <li key={position} class={`level-${Math.min(level, 6)}`}>
              {heading ?? "(no heading)"}
            </li>
          ))}
        </ul>
      </Panel>
      <Panel title="Passages">
        <Listed pages={chunks} empty="It has no passage that could be found.">
          {(items) => (
            <ol class="hits">
              {items.map((chunk) => (
                <li key={chunk.id}>
                  <p class="path">
                    {chunk.section_header ?? ""} · {number(chunk.token_count)} tokens ·{" "}
                    {chunk.embedding_model ?? "no vector yet"}
                  </p>
                  <p class="passage">{chunk.content}</p>
                </li>
              ))}
            </ol>
          )}
        </Listed>
      </Panel>
    </View>
  );
}

function About({ document, path, reload }: { document: DocumentDetails; path: string; reload(): void }) {
  const { url, source, language, crawled_at, tags } = document;
  return (
    <Panel title="About it">
      <p>
        <LiveLink url={url} />, by {source}, in {language}, <Time at={crawled_at} />.{" "}
        {source === "crawl" ? <a href={hrefOf(["archive"], { url })}>Archived page</a> : null}
      </p>
      <ul class="tags">
        {tags.map((tag) => (
          <li key={tag.id}>
            {tag.name}{" "}
            <Does
              label={`Take away the tag ${tag.name}`}
              act={async () => {
                await call(`${path}/tags/${encodeURIComponent(tag.id)}`, { method: "DELETE" });
                reload();
              }}
            >
              Take away
            </Does>
          </li>
        ))}
      </ul>
      <SmallForm
        label="Add the tag"
        fields={[{ name: "tag", label: "Tag", isRequired: true }]}
        send={async ({ tag }) => {
          await call(`${path}/tags`, { body: { tags: [tag] } });
          reload();
        }}
      />
    </Panel>
  );
}

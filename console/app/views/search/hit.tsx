/** One passage that was found. */
import type { SearchResult } from "../../api/types.ts";
import { webUrl } from "../../parts/safe-url.ts";
import { LiveLink } from "../../parts/text.tsx";
import { hrefOf } from "../../router.ts";
import { Highlighted } from "./highlighted.tsx";

export function Hit({ hit }: { hit: SearchResult }) {
  const { url, title, section_header, content, highlights } = hit;
  const name = title ?? url ?? "Untitled";
  const isPage = webUrl(url) !== undefined;
  return (
    <li>
      <article>
        <h2>{isPage ? <a href={hrefOf(["archive"], { url: url ?? "" })}>{name}</a> : name}</h2>
        <p class="path">
          <LiveLink url={url} />
          {section_header === null ? null : <span> › {section_header}</span>}
        </p>
        <p class="passage">
          <Highlighted text={content} ranges={highlights} />
        </p>
        <p class="links">
          {isPage ? (
            <>
              <a href={hrefOf(["archive"], { url: url ?? "" })} aria-label={`Archived page: ${name}`}>
                Archived page
              </a>{" "}
              <LiveLink url={url}>Live page</LiveLink>{" "}
            </>
          ) : null}
        </p>
        <details>
          <summary>Why it is here</summary>
          <dl class="reasons">
            <Reason name="Score" value={hit.score} />
            <Reason name="By words (BM25)" value={hit.keyword_score} rank={hit.explanation?.keyword_rank} />
            <Reason name="By meaning (cosine)" value={hit.vector_score} rank={hit.explanation?.vector_rank} />
            <Reason name="Reranker" value={hit.rerank_score} />
          </dl>
        </details>
      </article>
    </li>
  );
}

function Reason({ name, value, rank }: { name: string; value: number | null; rank?: number | null | undefined }) {
  if (value === null) return null;
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {value.toFixed(3)}
        {rank ? `, rank ${rank}` : ""}
      </dd>
    </div>
  );
}

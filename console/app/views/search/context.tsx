/** What a language model would be given to answer the question, with its sources. */

import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { Context as ContextAnswer } from "../../api/types.ts";
import { useAction } from "../../api/use-api.ts";
import { Fault, Panel } from "../../parts/page.tsx";
import { LiveLink, number, Time } from "../../parts/text.tsx";
import { hrefOf } from "../../router.ts";
import { type Filters, filterFields } from "./use-search.ts";

export function Context({ query, filters }: { query: string; filters: Filters }) {
  const [answer, setAnswer] = useState<ContextAnswer>();
  const asking = useAction(async () => {
    setAnswer(await call<ContextAnswer>("/api/v1/context", { body: { query, ...filterFields(filters) } }));
  });
  return (
    <Panel
      title="Context for a language model"
      aside={
        <button type="button" onClick={() => void asking.run()} disabled={asking.isRunning}>
          Show the context
        </button>
      }
    >
      <Fault fault={asking.fault} />
      {answer === undefined ? null : (
        <>
          <p class="faint">
            {number(answer.tokens)} tokens of {answer.citations.length} passages; {number(answer.left_out)} left out
          </p>
          <ol class="citations">
            {answer.citations.map((citation) => (
              <li key={citation.number} value={citation.number}>
                <a href={hrefOf(["archive"], { url: citation.url })}>{citation.title ?? citation.url}</a>
                {citation.section_header === null ? null : ` › ${citation.section_header}`},{" "}
                <Time at={citation.captured_at} day />
                <div>
                  <LiveLink url={citation.url} />
                </div>
                <p class="passage">{citation.text}</p>
              </li>
            ))}
          </ol>
        </>
      )}
    </Panel>
  );
}

/** What has no page, by its code: what each code means, and what to do about it. */
import causes from "strandline:error-causes";
import type { Crawl } from "../../api/types.ts";
import { Panel } from "../../parts/page.tsx";
import { number } from "../../parts/text.tsx";
import { nextStepOf } from "./next-steps.ts";

export function Failures({ job }: { job: Crawl }) {
  return (
    <>
      <Codes title="Failures by code" counts={failuresOf(job)} />
      <Codes title="Left out by code" counts={countCodes(job, "skipped")} />
    </>
  );
}

interface CodeCount {
  code: string;
  count: number;
}

function Codes({ title, counts }: { title: string; counts: readonly CodeCount[] }) {
  if (counts.length === 0) return null;
  return (
    <Panel title={title}>
      <ul class="failures">
        {counts.map(({ code, count }) => (
          <li key={code}>
            <strong>
              {number(count)} × <code>{code}</code>
            </strong>
            <div>{causeOf(code)}</div>
            <Step of={code} />
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function Step({ of }: { of: string }) {
  const step = nextStepOf(of);
  if (step === undefined) return null;
  return (
    <div class="step">
      {"→ "}
      {step.href === undefined ? step.text : <a href={step.href}>{step.text}</a>}
    </div>
  );
}

function causeOf(code: string): string {
  const status = /^HTTP_(\d+)$/.exec(code)?.[1];
  return causes[code] ?? (status === undefined ? "" : `The site answered with status ${status} in place of a page`);
}

/** Of the whole job once it has ended, and of what has failed so far before that. */
function failuresOf(job: Crawl): readonly CodeCount[] {
  return job.errors.length > 0 ? job.errors : countCodes(job, "failed");
}

function countCodes({ frontier }: Crawl, of: "failed" | "skipped"): readonly CodeCount[] {
  const counts = new Map<string, number>();
  for (const { state, error_code, count } of frontier?.counts ?? []) {
    if (state === of && error_code !== null) counts.set(error_code, (counts.get(error_code) ?? 0) + count);
  }
  return [...counts].map(([code, count]) => ({ code, count })).sort((one, other) => other.count - one.count);
}

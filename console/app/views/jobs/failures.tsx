/** What has no page, by its code, and what each code means. */
import causes from "strandline:error-causes";
import { Panel } from "../../parts/page.tsx";
import { number } from "../../parts/text.tsx";
import type { ResultPage } from "./use-results.ts";

export function Failures({
  pages,
  errors,
}: {
  pages: readonly ResultPage[];
  /** Of the whole job, once it has ended. */
  errors: readonly { code: string; count: number }[] | undefined;
}) {
  const counted = errors !== undefined && errors.length > 0 ? errors : countCodes(pages);
  if (counted.length === 0) return null;
  return (
    <Panel title="Failures by code">
      <ul class="failures">
        {counted.map(({ code, count }) => (
          <li key={code}>
            <strong>
              {number(count)} × <code>{code}</code>
            </strong>
            <div>{causeOf(code)}</div>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

export function causeOf(code: string): string {
  const status = /^HTTP_(\d+)$/.exec(code)?.[1];
  return causes[code] ?? (status === undefined ? "" : `The site answered with status ${status} in place of a page`);
}

export const codeOf = ({ fetch_error, parse_error }: ResultPage): string | undefined =>
  /^\w+/.exec(fetch_error ?? parse_error ?? "")?.[0];

function countCodes(pages: readonly ResultPage[]): { code: string; count: number }[] {
  const counts = new Map<string, number>();
  for (const page of pages) {
    const code = codeOf(page);
    if (code !== undefined) counts.set(code, (counts.get(code) ?? 0) + 1);
  }
  return [...counts].map(([code, count]) => ({ code, count })).sort((one, other) => other.count - one.count);
}

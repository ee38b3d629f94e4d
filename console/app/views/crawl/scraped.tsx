/** A page that was just fetched, in the formats that were asked for: as text, whatever it is. */
import { Panel } from "../../parts/page.tsx";
import { Preformatted } from "../../parts/preformatted.tsx";

export function Scraped({ answer }: { answer: unknown }) {
  return (
    <Panel title="The page">
      {Object.entries(answer as Record<string, unknown>)
        .filter(([, value]) => value !== null)
        .map(([name, value]) => (
          <details key={name} open={name === "markdown" || name === "text"}>
            <summary>{name}</summary>
            <Preformatted class="scraped">
              {typeof value === "string" ? value : JSON.stringify(value, null, 2)}
            </Preformatted>
          </details>
        ))}
    </Panel>
  );
}

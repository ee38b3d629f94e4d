/** What is used again, and how to forget it. */
import { call } from "../../api/client.ts";
import { Confirm } from "../../parts/confirm.tsx";
import { Panel } from "../../parts/page.tsx";

const CACHES = [
  {
    name: "crawl",
    does: "Pages are asked of their sites again, however lately they were captured. The archive keeps all.",
  },
  { name: "query", does: "Searches are computed again." },
  { name: "embeddings", does: "Texts and queries get their vectors anew where they are needed." },
];

export function Caches() {
  return (
    <Panel title="Caches">
      <div class="actions">
        {CACHES.map(({ name, does }) => (
          <Confirm
            key={name}
            label={`Clear the ${name} cache`}
            question={`Clear the ${name} cache?`}
            act={async () => void (await call(`/api/v1/cache/${name}`, { method: "DELETE" }))}
          >
            <p>{does}</p>
          </Confirm>
        ))}
      </div>
    </Panel>
  );
}

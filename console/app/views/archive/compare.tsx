/** Two captures of a page: what of its text changed, and both as they looked. */
import { withQuery } from "../../api/client.ts";
import type { SnapshotComparison, SnapshotTimelineSnapshot } from "../../api/types.ts";
import { useApi } from "../../api/use-api.ts";
import { Empty, Fault, Loading, Panel } from "../../parts/page.tsx";
import { Time } from "../../parts/text.tsx";
import { goTo } from "../../router.ts";
import { readDiff } from "./read-diff.ts";
import { ReplayFrame } from "./replay.tsx";
import { Screenshots } from "./screenshots.tsx";

interface CompareOptions {
  url: string;
  snapshots: readonly SnapshotTimelineSnapshot[];
  shown: SnapshotTimelineSnapshot;
  /** The earlier one, as the address has it. */
  other: string | null;
}

export function Compare({ url, snapshots, shown, other }: CompareOptions) {
  const earlier = snapshots.filter(({ captureTimestamp }) => captureTimestamp < shown.captureTimestamp);
  const before = earlier.find(({ snapshotId }) => String(snapshotId) === other);
  if (earlier.length === 0) return null;
  const at = String(shown.snapshotId);
  return (
    <Panel title="What changed">
      <label class="inline">
        Compare with the capture of
        <select
          value={before === undefined ? "" : String(before.snapshotId)}
          onChange={({ currentTarget }) => goTo(["archive"], { url, at, with: currentTarget.value })}
        >
          <option value="">none</option>
          {earlier.toReversed().map(({ snapshotId, captureTimestamp }) => (
            <option key={snapshotId} value={String(snapshotId)}>
              {new Date(captureTimestamp).toLocaleString()}
            </option>
          ))}
        </select>
      </label>
      {before === undefined ? null : <Difference url={url} before={before} after={shown} />}
    </Panel>
  );
}

function Difference({
  url,
  before,
  after,
}: {
  url: string;
  before: SnapshotTimelineSnapshot;
  after: SnapshotTimelineSnapshot;
}) {
  const path = withQuery("/api/changes/compare", { toSnapshotId: after.snapshotId, fromSnapshotId: before.snapshotId });
  const { data, fault } = useApi<SnapshotComparison>(path);
  const lines = readDiff(data?.diffHtml ?? "");
  return (
    <>
      <Fault fault={fault} />
      {data === undefined && fault === undefined ? <Loading /> : null}
      {data === undefined ? null : <p>{data.event.summary}</p>}
      {data !== undefined && lines.length === 0 ? <Empty>The text is the same.</Empty> : null}
      {lines.length === 0 ? null : (
        <ol class="diff">
          {lines.map(({ kind, text }, at) => (
            <li key={`${String(at)} ${kind}`} class={kind}>
              {kind === "added" ? <ins>{text}</ins> : kind === "removed" ? <del>{text}</del> : text}
            </li>
          ))}
        </ol>
      )}
      {data?.diffTruncated ? <p class="faint">The rest of the difference is left out.</p> : null}
      <div class="columns">
        {[before, after].map((snapshot) => (
          <div key={snapshot.snapshotId}>
            <h3>
              <Time at={snapshot.captureTimestamp} />
            </h3>
            <ReplayFrame snapshot={snapshot} name={`Archived page, captured ${snapshot.captureTimestamp}`} />
          </div>
        ))}
      </div>
      <Screenshots url={url} snapshots={[before, after]} />
    </>
  );
}

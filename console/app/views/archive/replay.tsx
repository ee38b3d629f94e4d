/**
 * A capture in a frame. What runs there was written by strangers: it is on an origin of its own, sandboxed by replay
 * and again here, and can neither reach this page nor send it elsewhere.
 */
import type { SnapshotTimelineSnapshot } from "../../api/types.ts";
import { Panel } from "../../parts/page.tsx";
import { webUrl } from "../../parts/safe-url.ts";
import { LiveLink, Time } from "../../parts/text.tsx";

export function Replay({ url, snapshot }: { url: string; snapshot: SnapshotTimelineSnapshot }) {
  return (
    <Panel title="The page as it was">
      <p class="banner">
        Archived on <Time at={snapshot.captureTimestamp} /> from <LiveLink url={url} />. This is not the live page.
      </p>
      <ReplayFrame snapshot={snapshot} name={`Archived page: ${snapshot.title ?? url}`} />
    </Panel>
  );
}

export function ReplayFrame({ snapshot, name }: { snapshot: SnapshotTimelineSnapshot; name: string }) {
  const address = webUrl(snapshot.browseUrl);
  if (address === undefined) return <p>This archive has no address where captures are replayed.</p>;
  return (
    <iframe
      key={address}
      src={address}
      title={name}
      sandbox="allow-scripts allow-forms"
      referrerpolicy="no-referrer"
      class="replay"
    />
  );
}

/** A page as it was: `#/archive?url=…&at=SNAPSHOT&with=EARLIER`; and what all said: `#/archive?q=…`. */
import { useState } from "preact/hooks";
import { withQuery } from "../../api/client.ts";
import type { ResolveReplayResponse, SnapshotTimeline } from "../../api/types.ts";
import { useApi } from "../../api/use-api.ts";
import { Empty, Fault, Loading, Panel, View } from "../../parts/page.tsx";
import { goTo, hrefOf, type Place } from "../../router.ts";
import { ArchiveSearch } from "./archive-search.tsx";
import { Calendar } from "./calendar.tsx";
import { Compare } from "./compare.tsx";
import { Replay } from "./replay.tsx";

export function Archive({ place: { query } }: { place: Place }) {
  const url = query.get("url") ?? "";
  const [typed, setTyped] = useState(url);
  return (
    <View title="Archive">
      <form
        class="panel"
        onSubmit={(event) => {
          event.preventDefault();
          goTo(["archive"], { url: typed });
        }}
      >
        <label class="wide">
          Address of a page
          <input
            type="text"
            inputMode="url"
            value={typed}
            onInput={({ currentTarget }) => setTyped(currentTarget.value)}
            required
          />
        </label>
        <button type="submit" class="primary">
          Show its captures
        </button>
      </form>
      {url === "" ? (
        <ArchiveSearch key={query.get("q")} query={query.get("q") ?? ""} />
      ) : (
        <Captures key={url} url={url} at={query.get("at")} other={query.get("with")} />
      )}
    </View>
  );
}

function Captures({ url, at, other }: { url: string; at: string | null; other: string | null }) {
  const resolved = useApi<ResolveReplayResponse>(withQuery("/api/replay/resolve", { url }));
  const newest = resolved.data?.snapshotId ?? undefined;
  const timeline = useApi<SnapshotTimeline>(newest === undefined ? undefined : `/api/snapshots/${newest}/timeline`);
  const snapshots = timeline.data?.snapshots;
  const shown = snapshots?.find(({ snapshotId }) => String(snapshotId) === (at ?? String(newest))) ?? snapshots?.at(-1);
  if (resolved.data?.found === false) {
    return (
      <Empty>
        There is no capture of this address. <a href={hrefOf(["crawl"], { url })}>Crawl it</a>, and it shows here.
      </Empty>
    );
  }
  return (
    <>
      <Fault fault={resolved.fault ?? timeline.fault} />
      {snapshots === undefined && resolved.fault === undefined && timeline.fault === undefined ? <Loading /> : null}
      {snapshots === undefined || shown === undefined ? null : (
        <>
          <Panel title="Captures">
            <Calendar url={url} snapshots={snapshots} shown={shown} />
          </Panel>
          <Replay url={url} snapshot={shown} />
          <Compare url={url} snapshots={snapshots} shown={shown} other={other} />
        </>
      )}
    </>
  );
}

/** Two captures of a page side by side, as a browser saw them when they were made. */
import { useEffect, useRef, useState } from "preact/hooks";
import { ApiFault, request } from "../../api/client.ts";
import type { SnapshotTimelineSnapshot } from "../../api/types.ts";
import { faultOf } from "../../api/use-api.ts";
import { Empty, Fault, Loading } from "../../parts/page.tsx";
import { Time } from "../../parts/text.tsx";

export function Screenshots({ url, snapshots }: { url: string; snapshots: readonly SnapshotTimelineSnapshot[] }) {
  return (
    <section aria-label="Screenshots">
      <h3>Screenshots</h3>
      {snapshots.every(({ previewUrl }) => previewUrl === null) ? (
        <Empty>Neither capture has a screenshot. They are taken of the entry pages of editions.</Empty>
      ) : (
        <div class="columns">
          {snapshots.map((snapshot) => (
            <Screenshot key={snapshot.snapshotId} url={url} snapshot={snapshot} />
          ))}
        </div>
      )}
    </section>
  );
}

function Screenshot({ url, snapshot }: { url: string; snapshot: SnapshotTimelineSnapshot }) {
  const { previewUrl, captureTimestamp } = snapshot;
  const frame = useRef<HTMLElement>(null);
  const isSeen = useIsSeen(frame);
  const { source, fault } = usePicture(isSeen ? previewUrl : null);
  return (
    <figure class="screenshot" ref={frame}>
      <figcaption>
        <Time at={captureTimestamp} />
      </figcaption>
      <Fault fault={fault} />
      {previewUrl === null ? (
        <p class="faint">This capture has no screenshot.</p>
      ) : source !== undefined ? (
        <img
          src={source}
          alt={`Screenshot of ${url}, captured ${new Date(captureTimestamp).toLocaleString()}`}
          width={1280}
          height={800}
        />
      ) : fault === undefined ? (
        <Loading />
      ) : null}
    </figure>
  );
}

/** Once it has come near what is in sight, it counts as seen. */
function useIsSeen(element: { current: Element | null }): boolean {
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    if (element.current === null) return;
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) setSeen(true);
      },
      { rootMargin: "200px" },
    );
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [element]);
  return isSeen;
}

/** Of no other origin: the key goes with the request. */
const IS_OF_THE_API = /^\/api\//;
const IS_PICTURE = /^image\/(webp|png|jpeg)$/;
const NO_PICTURE = new ApiFault(0, { error: "What the API has as the screenshot is no picture", code: "NO_PICTURE" });

/** @param path null: nothing is asked */
function usePicture(path: string | null): { source?: string; fault?: ApiFault } {
  const [picture, setPicture] = useState<{ source?: string; fault?: ApiFault }>({});
  useEffect(() => {
    if (path === null) return;
    const gone = new AbortController();
    let source: string | undefined;
    const load = async (): Promise<void> => {
      try {
        if (!IS_OF_THE_API.test(path)) throw NO_PICTURE;
        const blob = await (await request(path, { signal: gone.signal })).blob();
        if (gone.signal.aborted) return;
        if (!IS_PICTURE.test(blob.type)) throw NO_PICTURE;
        source = URL.createObjectURL(blob);
        setPicture({ source });
      } catch (error) {
        if (!gone.signal.aborted) setPicture({ fault: faultOf(error) });
      }
    };
    void load();
    return () => {
      gone.abort();
      if (source !== undefined) URL.revokeObjectURL(source);
      setPicture({});
    };
  }, [path]);
  return picture;
}

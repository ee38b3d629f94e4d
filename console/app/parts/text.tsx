/** Small pieces of text that every view needs: times, numbers, links of strangers, states. */
import type { ComponentChildren } from "preact";
import { webUrl } from "./safe-url.ts";

const SHORT = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const DAY = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });

/** In the reader's zone; UTC on hover. */
export function Time({ at, day = false }: { at: string | null | undefined; day?: boolean }) {
  const date = at ? new Date(at) : undefined;
  if (date === undefined || Number.isNaN(date.getTime())) return <span class="faint">–</span>;
  const utc = date
    .toISOString()
    .replace("T", " ")
    .replace(/\.\d+Z$/, " UTC");
  return (
    <time dateTime={date.toISOString()} title={utc}>
      {(day ? DAY : SHORT).format(date)}
    </time>
  );
}

const NUMBER = new Intl.NumberFormat();

export const number = (value: number): string => NUMBER.format(value);

const UNITS = ["bytes", "KB", "MB", "GB", "TB", "PB"];

/** In powers of 1,000. */
export function size(bytes: number): string {
  const step = Math.min(UNITS.length - 1, bytes < 1 ? 0 : Math.floor(Math.log10(bytes) / 3));
  return `${NUMBER.format(Math.round((bytes / 1000 ** step) * 10) / 10)} ${UNITS[step]}`;
}

/** To a page of the live web, in a tab of its own that learns nothing of this one. */
export function LiveLink({ url, children }: { url: string | null; children?: ComponentChildren }) {
  const href = webUrl(url);
  const shown = children ?? url;
  if (href === undefined) return <span>{shown}</span>;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow" class="address">
      {shown}
    </a>
  );
}

const TONES: Record<string, string> = {
  completed: "good",
  ok: "good",
  crawled: "good",
  delivered: "good",
  active: "good",
  running: "busy",
  embedding: "busy",
  pending: "busy",
  open: "busy",
  failed: "bad",
  error: "bad",
  cancelled: "calm",
  skipped: "calm",
};

/** A state by its word; the colour only repeats it. */
export function State({ of }: { of: string }) {
  return <span class={`state ${TONES[of] ?? "calm"}`}>{of}</span>;
}

/** What answers of replay have in common: their policy, and the pages of replay's own. */
import type { Withheld } from "../exclusions/is-shown.ts";
import { type ReplayContext, replayPath } from "./rewrite/replay-url.ts";
import { rewriteRefresh } from "./rewrite/rewrite-html.ts";
import { timestampOf } from "./timestamp.ts";

export interface ReplayRequest {
  method: string;
  /** As it came, with the query. */
  path: string;
  /** Of replay itself, as the client names it: scheme, host and port. */
  origin: string;
  header(name: string): string | undefined;
}

export interface ReplayAnswer {
  status: number;
  headers: Record<string, string>;
  body: Uint8Array | string;
}

/**
 * Archived content is of no origin, so that it reaches no storage and no other page; and it asks nobody but replay,
 * whatever the rewriting missed.
 * @param runs whether its scripts do: what has a window to itself could leave for the live web by them, or by a refresh
 */
const policyOf = (origin: string, runs: boolean): string => {
  const own = `'self' ${origin}`;
  return [
    `sandbox ${runs ? "allow-scripts " : ""}allow-forms allow-modals allow-pointer-lock allow-orientation-lock`,
    `default-src ${own} data: blob: 'unsafe-inline' 'unsafe-eval'`,
    `connect-src ${own} data: blob:`,
    `frame-src ${own} data: blob:`,
    `worker-src ${own} data: blob:`,
    `object-src ${own} data: blob:`,
    `form-action ${own}`,
    `base-uri ${own}`,
    "webrtc 'block'",
  ].join("; ");
};

/** Everything but the archived page in its frame. */
const wrapperPolicy = (origin: string): string =>
  `default-src 'none'; frame-src 'self' ${origin} blob:; style-src 'unsafe-inline'; img-src data:; ` +
  "base-uri 'none'; form-action 'none'";

const COMMON = {
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-dns-prefetch-control": "off",
  "permissions-policy":
    "camera=(), geolocation=(), microphone=(), payment=(), usb=(), serial=(), hid=(), bluetooth=(), midi=(), " +
    "browsing-topics=()",
};

export const contentHeaders = (
  origin: string,
  capturedAt: Date,
  link: string,
  runs: boolean,
): Record<string, string> => ({
  ...COMMON,
  "content-security-policy": policyOf(origin, runs),
  "memento-datetime": capturedAt.toUTCString(),
  link,
});

/** Headers that mean the same in replay. */
const KEPT = new Set(["content-language", "content-disposition"]);
/** What the server told one visitor, and how the answer was framed. */
const FORGOTTEN = new Set([
  "set-cookie",
  "set-cookie2",
  "content-type",
  "content-length",
  "content-encoding",
  "transfer-encoding",
]);
const MOST_HEADERS = 60;
const LONGEST_VALUE = 2_000;

/** All others stay readable under another name, and mean nothing to a browser. */
export function originalHeaders(
  headers: readonly (readonly [string, string])[],
  reference: (url: string) => string | undefined,
): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [written, value] of headers.slice(0, MOST_HEADERS)) {
    const name = written.toLowerCase();
    if (FORGOTTEN.has(name) || !/^[\w-]+$/.test(name) || !/^[\x20-\x7e\t]*$/.test(value)) continue;
    if (value.length > LONGEST_VALUE) continue;
    if (KEPT.has(name)) kept[name] = value;
    else if (name === "refresh") kept["refresh"] = rewriteRefresh(value, reference);
    const other = `x-archive-orig-${name.replace(/^x-archive-orig-/, "")}`;
    if (!KEPT.has(name)) kept[other] = kept[other] === undefined ? value : `${kept[other]}, ${value}`;
  }
  return kept;
}

const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

function ownPage(origin: string, status: number, title: string, body: string): ReplayAnswer {
  return {
    status,
    headers: {
      ...COMMON,
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": wrapperPolicy(origin),
      "cache-control": "no-store",
    },
    body: `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${escaped(title)}</title><link rel="icon" href="data:,">
<meta name="viewport" content="width=device-width"><style>
html,body{margin:0;height:100%}body{font:16px/1.5 system-ui,sans-serif;display:flex;flex-direction:column}
header{padding:.25rem .75rem;font-size:.8rem;background:#eee;color:#222;overflow-wrap:anywhere}main{margin:2rem auto;max-width:40rem;padding:0 1rem;overflow-wrap:anywhere}
iframe{border:0;flex:1;width:100%}</style></head><body>${body}</body></html>
`,
  };
}

/** @param url undefined where the request names none */
export function missingPage(origin: string, url: string | undefined, why: string): ReplayAnswer {
  const what = url === undefined ? "" : `<p><code>${escaped(url.slice(0, 2_000))}</code></p>`;
  return ownPage(origin, 404, "Not archived", `<main><h1>Not archived</h1>${what}<p>${escaped(why)}.</p></main>`);
}

/** As archives of the field answer: 451 for ever, 403 for the time being. */
export function withheldPage(origin: string, url: string, withheld: Withheld): ReplayAnswer {
  const what = `<p><code>${escaped(url.slice(0, 2_000))}</code></p>`;
  const [status, title, why] =
    withheld === "excluded"
      ? ([451, "Excluded", "Who runs this archive has excluded this URL from its readers."] as const)
      : ([403, "Not shown yet", "Captures of this URL are shown here as they grow older."] as const);
  return ownPage(origin, status, title, `<main><h1>${title}</h1>${what}<p>${why}</p></main>`);
}

/** The page of ours around an archived one: it lets its frame go nowhere but to replay. */
export function wrapperPage(
  origin: string,
  { timestamp, url }: ReplayContext,
  capturedAt: Date,
  status: number,
): ReplayAnswer {
  const when = capturedAt.toISOString().replace("T", " ").slice(0, 19);
  const frame = replayPath(timestamp || timestampOf(capturedAt), "mp_", url);
  return ownPage(
    origin,
    status,
    `Archived: ${url.slice(0, 200)}`,
    `<header>Archived ${when} UTC: <code>${escaped(url.slice(0, 500))}</code></header>` +
      `<iframe name="archived" title="The archived page" src="${escaped(frame)}"></iframe>`,
  );
}

/** The routes of Memento (RFC 7089): the capture of a URL at a time, and lists of them all. */
import { z } from "zod";
import { timestampOf } from "../../shared/archive/cdx/cdx-line.ts";
import {
  jsonTimeMap,
  linkTimeMap,
  type MementoAddresses,
  mementoLinks,
  parseDatetime,
} from "../../shared/archive/cdx/memento-links.ts";
import { findMementos, listMementos, type MementoSet, nearestMemento } from "../../shared/archive/cdx/mementos.ts";
import { ApiError } from "../../shared/platform/errors.ts";
import { ApiResponse } from "../adapters/api/route.ts";
import { defineStreamRoute, StreamedResponse, type StreamRequest } from "../adapters/api/stream-route.ts";
import { baseOf } from "../adapters/archive/base-address.ts";
import { requireShownUrl } from "../adapters/archive/withheld.ts";
import { type CdxApi, cdxApi } from "./dependencies.ts";
import { REST, targetsOf } from "./rest-of-path.ts";
import { requireWholeIndex } from "./whole-index.ts";

const open = (): boolean => cdxApi().config.archivePublic;
const params = z.strictObject({ url: z.string() });
/** What follows the question mark is that of the URL. */
const query = z.looseObject({});
const MEMENTO_ERRORS = {
  400: ["URL_INVALID"],
  403: ["EMBARGOED"],
  404: ["NOT_FOUND"],
  451: ["EXCLUDED"],
  503: ["INDEX_INCOMPLETE"],
} as const;
const VARY = { vary: "accept-datetime" };

type Requested = Pick<StreamRequest<unknown, unknown, unknown, unknown>, "event">;

/** @throws ApiError 400, 404 */
async function requested({ sql }: CdxApi, { event }: Requested, prefix: string): Promise<MementoSet> {
  const urls = targetsOf(event).flatMap((target) => urlBehind(target.slice(prefix.length)) ?? []);
  const [asked] = urls;
  if (asked === undefined) {
    const message = `The path names no http or https URL behind ${prefix}`;
    throw new ApiError(400, message, { code: "URL_INVALID", headers: VARY });
  }
  for (const url of urls) {
    const found = await findMementos(sql, url);
    await requireShownUrl(sql, url, found !== undefined);
    if (found !== undefined) return found;
  }
  throw new ApiError(404, `There is no capture of ${asked}`, { code: "NOT_FOUND", headers: VARY });
}

/** A URL as it stands in a path: as it is, percent-encoded as a whole, without a scheme, or with one slash too few. */
function urlBehind(rest: string): string | undefined {
  const plain = /^https?%3a/i.test(rest) ? decoded(rest) : rest;
  if (/^(?!https?:)[a-z][a-z0-9+.-]*:\/\//i.test(plain)) return undefined;
  const whole = /^https?:/i.test(plain) ? plain.replace(/^(https?):\/*/i, "$1://") : `http://${plain}`;
  const url = URL.parse(whole);
  return url !== null && /^https?:$/.test(url.protocol) && whole.length <= 8_192 ? url.href : undefined;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Mementos are replayed on an origin of their own; where there is none, they are given as the server sent them. */
function addressesOf({ config: { archiveReplayUrl } }: CdxApi, { event }: Requested): MementoAddresses {
  const base = baseOf(event);
  return {
    timeGateOf: (url) => `${base}/timegate/${url}`,
    timeMapOf: (format, url) => `${base}/timemap/${format}/${url}`,
    mementoOf: ({ id, url, time }) =>
      archiveReplayUrl === "" ? `${base}/api/snapshots/raw/${id}` : `${archiveReplayUrl}/${timestampOf(time)}/${url}`,
  };
}

const GATE = "/timegate/";

export const timeGate = defineStreamRoute(
  {
    method: "GET",
    path: `${GATE}${REST}`,
    errors: { ...MEMENTO_ERRORS, 400: [...MEMENTO_ERRORS[400], "BAD_REQUEST"] },
    scope: "read",
    open,
    summary: "Leads to the capture of a URL that is nearest to `Accept-Datetime`; without that, to the newest",
    params,
    query,
    status: 302,
    headers: { location: "The address of the capture", link: "What is around it (RFC 7089)" },
    response: z.object({ uri: z.string(), datetime: z.iso.datetime() }),
  },
  async (request, dependencies: CdxApi) => {
    const asked = request.header("accept-datetime");
    const at = asked === undefined ? null : parseDatetime(asked.trim());
    if (at === undefined) {
      const message = "Accept-Datetime is no date of RFC 1123, as in Thu, 01 Jan 2026 00:00:00 GMT";
      throw new ApiError(400, message, { code: "BAD_REQUEST", headers: VARY });
    }
    await requireWholeIndex(dependencies);
    const set = await requested(dependencies, request, GATE);
    const around = await nearestMemento(dependencies.sql, set, at);
    const addresses = addressesOf(dependencies, request);
    const uri = addresses.mementoOf(around.memento);
    const headers = { ...VARY, location: uri, link: mementoLinks(addresses, set.original, around) };
    return new ApiResponse(302, { uri, datetime: around.memento.time.toISOString() }, headers);
  },
);

const FORMATS = {
  link: { contentType: "application/link-format", write: linkTimeMap },
  json: { contentType: "application/json", write: jsonTimeMap },
} as const;

export const timeMaps = (["link", "json"] as const).map((format) => {
  const prefix = `/timemap/${format}/` as const;
  const { contentType, write } = FORMATS[format];
  return defineStreamRoute(
    {
      method: "GET",
      path: `${prefix}${REST}`,
      errors: MEMENTO_ERRORS,
      scope: "read",
      open,
      summary: "All captures of a URL, oldest first",
      params,
      query,
      response: z.never(),
      streams: { [contentType]: format === "json" ? z.looseObject({ original_uri: z.string() }) : z.string() },
    },
    async (request, dependencies: CdxApi) => {
      await requireWholeIndex(dependencies);
      const set = await requested(dependencies, request, prefix);
      const { first, last } = await nearestMemento(dependencies.sql, set, null);
      const map = { addresses: addressesOf(dependencies, request), original: set.original, first, last };
      const chunks = write(map, listMementos(dependencies.sql, set, request.signal));
      return new StreamedResponse({ contentType, chunks });
    },
  );
});

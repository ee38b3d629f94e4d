/**
 * Keeps the cookies that hosts set, for the one job that asked for a session: of each host, apart by port, in an item
 * of its own. No other job and no other host gets them (RFC 6265 for domain, path and `Secure`), and they are gone an
 * hour after they were last asked for.
 */
import type { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { z } from "zod";
import { createStateTable, expiresAt, type StateItem } from "../../platform/aws/state-table.ts";
import { sha256 } from "../../platform/ids.ts";
import type { HttpResponse } from "../http/exchange.ts";
import { type Cookie, cookiesSetBy, MOST_COOKIES } from "../http/redirect-cookies.ts";
import type { Cookie as ConfiguredCookie } from "../settings/cookies.ts";
import { hostOf } from "../urls/normalize-url.ts";

export interface SessionCookies {
  of(jobId: string): Session;
}

export interface Session {
  /** What the URL's host has set, for whatever path, and has not ended. */
  read(url: URL): Promise<Cookie[]>;
  /** Keeps what a response sets. */
  keep(url: URL, headers: HttpResponse["headers"]): Promise<void>;
}

const LIFETIME_S = 3600;
/** Of one host, as JSON: servers take no more in a request. What is set beyond is left out. */
const MOST_CHARACTERS = 16_384;

const heldSchema = z.object({
  cookie: z.object({
    name: z.string(),
    value: z.string(),
    domain: z.string(),
    hostOnly: z.boolean(),
    path: z.string(),
    secure: z.boolean(),
  }),
  /** Epoch ms; null: with the session. */
  endsAt: z.number().nullable(),
  /** Which came first, as they are sent. */
  order: z.number(),
});
type Held = z.infer<typeof heldSchema>;

export function createSessionCookies(
  dynamo: DynamoDBDocumentClient,
  TableName: string,
  now: () => number = Date.now,
): SessionCookies {
  const table = createStateTable(dynamo, TableName);
  return {
    of(jobId) {
      const keyOf = (url: URL): string => `session#${jobId}#${hostOf(url)}`;
      const current = async (url: URL): Promise<{ item: StateItem; held: Map<string, Held> } | undefined> => {
        const item = await table.read(keyOf(url));
        return item === undefined || leftOf(item, now()) <= 0 ? undefined : { item, held: heldIn(item) };
      };
      return {
        async read(url) {
          const found = await current(url);
          if (found === undefined) return [];
          if (leftOf(found.item, now()) < (LIFETIME_S / 2) * 1000) {
            await table.update(keyOf(url), { set: { expires_at: expiresAt(now(), LIFETIME_S) } });
          }
          const lasting = [...found.held.values()].filter(({ endsAt }) => endsAt === null || endsAt > now());
          return lasting.map(({ cookie }) => cookie);
        },
        async keep(url, headers) {
          const wanted = cookiesSetBy(url, headers, now());
          if (wanted.length === 0) return;
          const held = (await current(url))?.held ?? new Map<string, Held>();
          const before = new Map([...held].map(([name, each]) => [name, JSON.stringify(each)]));
          let next = Math.max(0, ...[...held.values()].map(({ order }) => order)) + 1;
          for (const { key, cookie, endsAt } of wanted) {
            const name = attributeOf(key);
            const order = held.get(name)?.order ?? next++;
            if (endsAt <= now()) held.delete(name);
            else held.set(name, { cookie, endsAt: Number.isFinite(endsAt) ? endsAt : null, order });
          }
          const set: Record<string, string | undefined> = {};
          let size = 0;
          let count = 0;
          for (const [name, each] of held) {
            const text = JSON.stringify(each);
            size += text.length;
            count += 1;
            const fits = size <= MOST_CHARACTERS && count <= MOST_COOKIES;
            if (fits && before.get(name) !== text) set[name] = text;
            if (!fits && before.has(name)) set[name] = undefined;
          }
          for (const name of before.keys()) if (!held.has(name)) set[name] = undefined;
          // each cookie by itself: other tasks of the job may be setting theirs
          if (Object.keys(set).length === 0) return;
          await table.update(keyOf(url), { set: { ...set, expires_at: expiresAt(now(), LIFETIME_S) } });
        },
      };
    },
  };
}

/** DynamoDB lets expired items stay for a while. */
const leftOf = ({ expires_at }: StateItem, now: number): number => Number(expires_at) * 1000 - now;

/** What is sure to be the name of an attribute. */
const attributeOf = (key: string): string => `c${sha256(key).toString("hex").slice(0, 32)}`;

function heldIn(item: StateItem): Map<string, Held> {
  const texts = Object.entries(item).filter(([name]) => /^c[0-9a-f]{32}$/.test(name));
  const held = texts.map(([name, text]) => [name, heldSchema.parse(JSON.parse(String(text)))] as const);
  return new Map(held.toSorted(([, a], [, b]) => a.order - b.order));
}

/** The cookies of a session for a browser, and those that a job began with and the site has not set since. */
export function withSession(begunWith: readonly ConfiguredCookie[], url: URL, held: readonly Cookie[]) {
  const set = new Set(held.map(({ name }) => name));
  const isReplaced = ({ host, name }: ConfiguredCookie): boolean =>
    (host === url.hostname || host === hostOf(url)) && set.has(name);
  // a browser takes the others from nobody
  const usable = held.filter(({ name, value }) => name !== "" && /^[\x20-\x7e]*$/.test(value));
  const own = usable.map(({ name, value, path, secure }) => ({ host: hostOf(url), name, value, path, secure }));
  return [...begunWith.filter((cookie) => !isReplaced(cookie)), ...own];
}

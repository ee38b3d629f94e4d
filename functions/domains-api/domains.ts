/** The routes for the settings of domains: how fast they are fetched, with how many tries, or whether at all. */
import { z } from "zod";
import { readDomainCounts } from "../../shared/crawl/administration/domain-counts.ts";
import { parseDomain } from "../../shared/crawl/administration/domain-name.ts";
import {
  changeDomain,
  type DomainSettings,
  listDomainSettings,
  readDomainSettings,
} from "../../shared/crawl/administration/domain-settings.ts";
import { MIN_RATE_RPS } from "../../shared/crawl/settings/crawl-config.ts";
import { cursorPage, cursorParameter } from "../adapters/api/cursor.ts";
import { numberParameter } from "../adapters/api/numbers.ts";
import { defineRoute } from "../adapters/api/route.ts";
import type { DomainsApi } from "./dependencies.ts";
import {
  domainDetailSchema,
  domainJson,
  domainPosition,
  domainSchema,
  hostJson,
  robotsJson,
  urlCountsJson,
} from "./domain-json.ts";

/** `parseDomain` checks it, and says what is wrong. */
export const domainParams = z.strictObject({ domain: z.string() });

const reason = z.string().trim().min(1).max(1000);
const changeSchema = z.strictObject({
  rate_limit_rps: z.number().min(MIN_RATE_RPS).max(10_000).nullable().optional(),
  circuit_breaker_threshold: z.int().min(1).max(1000).nullable().optional(),
  circuit_breaker_timeout_s: z.int().min(1).max(3600).nullable().optional(),
  is_blocked: z.boolean().optional(),
  blocked_reason: reason.nullable().optional(),
});

export const list = defineRoute(
  {
    method: "GET",
    path: "/api/v1/domains",
    scope: "read",
    summary: "The domains that have settings, in order of name",
    query: z.strictObject({
      blocked: z.enum(["true", "false"]).optional(),
      limit: numberParameter(z.int().min(1).max(500).default(50)),
      cursor: cursorParameter(domainPosition),
    }),
    response: z.object({ items: z.array(domainSchema), next_cursor: z.string().nullable(), has_more: z.boolean() }),
  },
  async ({ query: { blocked, limit, cursor } }, { sql }: DomainsApi) => {
    const wanted = blocked === undefined ? undefined : blocked === "true";
    const found = await listDomainSettings(sql, { blocked: wanted, limit: limit + 1, after: cursor });
    return cursorPage(found.map(domainJson), limit, ({ domain }) => domain);
  },
);

export const show = defineRoute(
  {
    method: "GET",
    path: "/api/v1/domains/{domain}",
    scope: "read",
    summary: "Settings, circuit and totals of a domain, whether it has settings of its own or not",
    params: domainParams,
    response: domainDetailSchema,
  },
  async ({ params }, dependencies: DomainsApi) => {
    const domain = parseDomain(params.domain);
    return await detail(dependencies, await readDomainSettings(dependencies.sql, domain));
  },
);

export const update = defineRoute(
  {
    method: "PUT",
    path: "/api/v1/domains/{domain}",
    scope: "write",
    summary: "Change settings of a domain; what is left out stays, null is the deployment's value",
    params: domainParams,
    body: changeSchema,
    response: domainDetailSchema,
  },
  async ({ params, body }, dependencies: DomainsApi) =>
    await detail(dependencies, await changeDomain(dependencies, parseDomain(params.domain), body)),
);

export const block = defineRoute(
  {
    method: "POST",
    path: "/api/v1/domains/{domain}/block",
    scope: "write",
    summary: "Block a domain: within two seconds no request leaves any more, and its URLs end as DOMAIN_BLOCKED",
    params: domainParams,
    body: z.strictObject({ reason: reason.optional() }),
    response: domainDetailSchema,
  },
  async ({ params, body, caller, log }, dependencies: DomainsApi) => {
    const domain = parseDomain(params.domain);
    const change = { is_blocked: true, blocked_reason: body.reason ?? null };
    const changed = await changeDomain(dependencies, domain, change);
    log.info("domain blocked", { host: domain, by: caller.keyId });
    return await detail(dependencies, changed);
  },
);

export const unblock = defineRoute(
  {
    method: "POST",
    path: "/api/v1/domains/{domain}/unblock",
    scope: "write",
    summary: "Unblock a domain; URLs that ended as DOMAIN_BLOCKED stay so",
    params: domainParams,
    response: domainDetailSchema,
  },
  async ({ params, caller, log }, dependencies: DomainsApi) => {
    const domain = parseDomain(params.domain);
    const changed = await changeDomain(dependencies, domain, { is_blocked: false });
    log.info("domain unblocked", { host: domain, by: caller.keyId });
    return await detail(dependencies, changed);
  },
);

export const resetCircuit = defineRoute(
  {
    method: "POST",
    path: "/api/v1/domains/{domain}/reset",
    scope: "write",
    summary: "Close the circuit of a domain, and forget its failures",
    params: domainParams,
    response: domainDetailSchema,
  },
  async ({ params }, dependencies: DomainsApi) => {
    const domain = parseDomain(params.domain);
    await dependencies.hosts.recordSuccess(domain);
    return await detail(dependencies, await readDomainSettings(dependencies.sql, domain));
  },
);

async function detail(
  { sql, hosts, robots }: DomainsApi,
  settings: DomainSettings,
): Promise<z.input<typeof domainDetailSchema>> {
  const { domain } = settings;
  const origins = ["https", "http"].map((scheme) => `${scheme}://${domain}`);
  const [state, counts, ...kept] = await Promise.all([
    hosts.read(domain),
    readDomainCounts(sql, domain),
    ...origins.map(async (origin) => ({ origin, rules: await robots.get(origin) })),
  ]);
  return {
    ...domainJson(settings),
    ...hostJson(state, Date.now()),
    urls: counts === undefined ? null : urlCountsJson(counts),
    robots: kept.flatMap(({ origin, rules }) => (rules === undefined ? [] : [robotsJson(origin, rules)])),
  };
}

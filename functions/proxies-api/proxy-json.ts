/** Proxy configs as the API takes and shows them. A password goes in, and never comes out. */
import { z } from "zod";
import { parseProxyUrl, proxyUrl } from "../../shared/access/proxy-server.ts";
import { type UrlInspector, UrlRefusedError } from "../../shared/access/url-inspection.ts";
import type { NewProxyConfig, NewServer, ProxyConfig } from "../../shared/crawl/administration/proxy-configs.ts";
import { ROTATION_STRATEGIES } from "../../shared/crawl/proxies/rotation.ts";
import { ApiError } from "../../shared/platform/errors.ts";
import { orNull } from "../adapters/api/or-null.ts";

const MOST_SERVERS = 50;
/** RFC 1929 counts in one byte. */
const short = z.string().refine((text) => Buffer.byteLength(text) <= 255, "is longer than 255 bytes");

export const serverSchema = z
  .strictObject({
    url: z
      .string()
      .max(300)
      .refine((text) => parseProxyUrl(text) !== undefined, {
        message:
          "is no http://, https://, socks5:// or socks5h:// URL with a host and a port " +
          "alone; credentials go into username and password",
        abort: true,
      }),
    username: orNull(short.min(1).refine((text) => !/[:\p{Cc}]/u.test(text), "holds a colon or a control character")),
    /** Left out: that of the server with the same URL and username stays; null: none. */
    password: short.nullish(),
  })
  .refine(({ username, password }) => username !== undefined || !password, {
    path: ["username"],
    message: "is missing beside a password",
  })
  .meta({
    anyOf: [
      { required: ["username"], properties: { username: { type: "string" } } },
      { properties: { password: { enum: [null, ""] } } },
    ],
  })
  .transform((server) => ({ ...server, url: canonical(server.url) }));

export const newProxySchema = z.strictObject({
  name: z.string().trim().min(1).max(100),
  servers: z
    .array(serverSchema)
    .min(1)
    .max(MOST_SERVERS)
    .refine(
      (servers) => new Set(servers.map(({ url, username }) => `${url} ${username ?? ""}`)).size === servers.length,
      "names a server twice",
    ),
  rotation_strategy: z.enum(ROTATION_STRATEGIES).default("round_robin"),
  is_active: z.boolean().default(true),
});

export const proxySchema = z.object({
  id: z.uuid(),
  name: z.string(),
  servers: z.array(z.object({ url: z.string(), username: z.string().nullable(), has_password: z.boolean() })),
  rotation_strategy: z.enum(ROTATION_STRATEGIES),
  is_active: z.boolean(),
  created_at: z.iso.datetime(),
});

export function proxyJson({
  id,
  name,
  servers,
  rotation,
  active,
  createdAt,
}: ProxyConfig): z.input<typeof proxySchema> {
  return {
    id,
    name,
    servers: servers.map(({ url, username = null, password }) => ({
      url,
      username,
      has_password: password !== undefined,
    })),
    rotation_strategy: rotation,
    is_active: active,
    created_at: createdAt.toISOString(),
  };
}

/** @throws ApiError 400 naming the servers whose address is not public */
export function newProxy(inspector: UrlInspector, body: z.output<typeof newProxySchema>): NewProxyConfig {
  requireAllowed(inspector, body.servers, (index) => `servers[${index}].url`);
  return { name: body.name, servers: body.servers, rotation: body.rotation_strategy, active: body.is_active };
}

export function requireAllowed(
  inspector: UrlInspector,
  servers: readonly NewServer[],
  pathOf: (index: number) => string,
): void {
  const faults = servers.flatMap(({ url }, index) => {
    const address = parseProxyUrl(url);
    try {
      if (address !== undefined) inspector.checkHost(address.hostname, address.port);
      return [];
    } catch (error) {
      if (!(error instanceof UrlRefusedError)) throw error;
      const message = "leads to an address that is not public: name it in ACCESS__ALLOW_HOSTS where it is yours";
      return [{ in: "body", path: pathOf(index), message }];
    }
  });
  if (faults.length === 0) return;
  const summary = faults.map(({ path, message }) => `${path}: ${message}`).join("; ");
  throw new ApiError(400, `The request body has ${faults.length} fault(s): ${summary.slice(0, 1000)}`, {
    code: "VALIDATION_ERROR",
    details: { faults },
  });
}

function canonical(url: string): string {
  const parsed = parseProxyUrl(url);
  return parsed === undefined ? url : proxyUrl(parsed);
}

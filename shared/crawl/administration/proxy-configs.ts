/** Proxy configs as rows. Each change is shared with fetch in the same breath: it is undone where that fails. */
import type { ProxyServer } from "../../access/proxy-server.ts";
import { inTransaction, isUniqueViolation, type Queryable, type Sql } from "../../platform/database/database.ts";
import { ApiError } from "../../platform/errors.ts";
import { uuidv7 } from "../../platform/ids.ts";
import type { RotationStrategy } from "../proxies/rotation.ts";
import type { ProxyStates } from "../proxies/store.ts";

export interface ProxyConfig {
  id: string;
  name: string;
  /** With their passwords: not for answers, logs or messages. */
  servers: ProxyServer[];
  rotation: RotationStrategy;
  active: boolean;
  createdAt: Date;
}

/** `password` left out: that of the server with the same URL and user name stays; null: none. */
export interface NewServer {
  url: string;
  username?: string | undefined;
  password?: string | null | undefined;
}

export interface NewProxyConfig extends Pick<ProxyConfig, "name" | "rotation" | "active"> {
  servers: NewServer[];
}

export interface ProxyConfigDependencies {
  sql: Sql;
  proxies: Pick<ProxyStates, "share" | "forget">;
}

/** @throws ApiError 409 CONFLICT where the name is taken */
export async function createProxyConfig(
  { sql, proxies }: ProxyConfigDependencies,
  { name, servers, rotation, active }: NewProxyConfig,
): Promise<ProxyConfig> {
  const id = uuidv7();
  const kept = servers.map((server) => withPassword(server, []));
  return await named(name, () =>
    inTransaction(sql, async (tx) => {
      const [row] = await tx<ProxyConfig[]>`
        insert into proxy_configs (id, name, servers, rotation_strategy, is_active)
        values (${id}, ${name}, ${JSON.stringify(kept)}::text::jsonb, ${rotation}, ${active}) returning ${columns(tx)}`;
      await proxies.share(id, { servers: kept, rotation, active });
      return row as ProxyConfig;
    }),
  );
}

/** @throws ApiError 404 NOT_FOUND, 409 CONFLICT where the name is taken */
export async function replaceProxyConfig(
  { sql, proxies }: ProxyConfigDependencies,
  id: string,
  { name, servers, rotation, active }: NewProxyConfig,
): Promise<ProxyConfig> {
  return await named(name, () =>
    inTransaction(sql, async (tx) => {
      const [before] = await tx<ProxyConfig[]>`select ${columns(tx)} from proxy_configs where id = ${id} for update`;
      if (before === undefined) throw missing(id);
      const kept = servers.map((server) => withPassword(server, before.servers));
      const [row] = await tx<ProxyConfig[]>`
        update proxy_configs set name = ${name}, servers = ${JSON.stringify(kept)}::text::jsonb,
          rotation_strategy = ${rotation}, is_active = ${active}
        where id = ${id} returning ${columns(tx)}`;
      await proxies.share(id, { servers: kept, rotation, active });
      return row as ProxyConfig;
    }),
  );
}

/**
 * Jobs that use it go on failing with PROXY_UNAVAILABLE.
 * @throws ApiError 404 NOT_FOUND
 */
export async function deleteProxyConfig({ sql, proxies }: ProxyConfigDependencies, id: string): Promise<void> {
  await inTransaction(sql, async (tx) => {
    const { count } = await tx`delete from proxy_configs where id = ${id}`;
    if (count === 0) throw missing(id);
    await proxies.forget(id);
  });
}

/** @throws ApiError 404 NOT_FOUND */
export async function readProxyConfig(sql: Queryable, id: string): Promise<ProxyConfig> {
  const [row] = await sql<ProxyConfig[]>`select ${columns(sql)} from proxy_configs where id = ${id}`;
  if (row === undefined) throw missing(id);
  return row;
}

/**
 * Newest first.
 * @param after the id of the last one seen
 */
export async function listProxyConfigs(
  sql: Queryable,
  { limit, after }: { limit: number; after?: string | undefined },
): Promise<ProxyConfig[]> {
  return await sql<ProxyConfig[]>`
    select ${columns(sql)} from proxy_configs where ${after === undefined ? sql`true` : sql`id < ${after}`}
    order by id desc limit ${limit}`;
}

/** @throws ApiError 404 NOT_FOUND, 409 PROXY_INACTIVE */
export async function requireProxy(sql: Queryable, id: string): Promise<void> {
  const [row] = await sql<{ active: boolean }[]>`select is_active as active from proxy_configs where id = ${id}`;
  if (row === undefined) {
    throw new ApiError(404, `There is no proxy config ${id} (config.proxy_id)`, { code: "NOT_FOUND" });
  }
  if (!row.active) {
    const message = `The proxy config ${id} (config.proxy_id) is switched off: set its is_active, or use another one`;
    throw new ApiError(409, message, { code: "PROXY_INACTIVE" });
  }
}

function withPassword({ url, username, password }: NewServer, before: readonly ProxyServer[]): ProxyServer {
  const same = before.find((server) => server.url === url && server.username === username);
  const secret = password === undefined ? same?.password : (password ?? undefined);
  return { url, ...(username !== undefined && { username }), ...(secret !== undefined && { password: secret }) };
}

function columns(sql: Queryable) {
  return sql`id, name, servers, rotation_strategy as rotation, is_active as active, created_at as "createdAt"`;
}

const missing = (id: string): ApiError => new ApiError(404, `There is no proxy config ${id}`, { code: "NOT_FOUND" });

/** The database's own message would hold the row, and with it the passwords. */
async function named<T>(name: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    throw new ApiError(409, `There is a proxy config "${name}" already: choose another name`, { code: "CONFLICT" });
  }
}

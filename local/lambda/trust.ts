/** Which functions may share a thread: those that may touch the same secrets, and meet the same strangers. */
import type { FunctionSpec } from "../../infra/topology/spec.ts";

/**
 * What a thread may hold. A page that took over a handler of `internet` would find no database there, and no provider's
 * key; the `browser` is apart from it, so that no fetch keeps one waiting while another is started elsewhere.
 */
export type Trust = "internet" | "provider-keys" | "callers-keys" | "browser" | "private";

/** Read off what the topology grants. */
export function trustOf({ network, browser, grants }: FunctionSpec): Trust {
  if (browser) return "browser";
  if (grants.providerKeys) return "provider-keys";
  if (grants.api) return "callers-keys";
  return network;
}

/** Settings that only those learn who may use what they open. */
const DATABASE_SETTING = /^DATABASE__/;

/** The environment of a thread: without the database's address, and with it its password, where nobody may ask it. */
export function environmentOf(trust: Trust, env: Readonly<Record<string, string>>): Record<string, string> {
  if (trust === "private") return { ...env };
  return Object.fromEntries(Object.entries(env).filter(([name]) => !DATABASE_SETTING.test(name)));
}

/**
 * Chooses how the requests of a task leave: directly, or through the servers of a proxy config, and never directly
 * where a proxy is asked for.
 */
import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { LRUCache } from "lru-cache";
import type { Agent } from "undici";
import type { ProxyServer } from "../../access/proxy-server.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Exchange } from "../http/exchange.ts";
import { RequestRefused } from "../http/request-refused.ts";
import { chooseServer, type ServerUse } from "./rotation.ts";
import type { ProxyStates, SharedProxyConfig } from "./store.ts";

export interface Route {
  client: Agent;
  /** What the client goes through; undefined: nothing. */
  server: ProxyServer | undefined;
  /**
   * Learns what came of a request.
   *
   * @returns whether it never reached the site, and another route should be tried
   */
  report(exchange: Pick<Exchange, "fault">): Promise<boolean>;
}

/** Of one task. */
export interface TaskEgress {
  /**
   * Chooses the route of the next request.
   *
   * @throws RequestRefused PROXY_UNAVAILABLE where there is none
   */
  chooseRoute(): Promise<Route>;
}

export interface Egress {
  /** @param proxyId undefined: requests leave directly */
  forTask(proxyId: string | undefined): TaskEgress;
}

export interface EgressOptions {
  direct: Agent;
  /** A client through this server. */
  through(server: ProxyServer): Agent;
  proxies: ProxyStates;
  clock: Clock;
  random?: () => number;
}

export function directEgress(client: Agent): TaskEgress {
  const route: Route = { client, server: undefined, report: async () => false };
  return { chooseRoute: async () => route };
}

/**
 * Clients kept in a container. `lru-cache` adds 19 KB to a bundle; the largest with it, that of fetch, has 1,396 KB of
 * 1,500.
 */
const MOST_CLIENTS = 64;

export function createEgress({ direct, through, proxies, clock, random = Math.random }: EgressOptions): Egress {
  const clients = new LRUCache<string, Agent>({
    max: MOST_CLIENTS,
    // once what is under way has ended
    dispose: (client) => void client.close(),
  });
  const directly = directEgress(direct);

  const clientOf = (server: ProxyServer): Agent => {
    const key = createHash("sha256")
      .update(JSON.stringify([server.url, server.username, server.password]))
      .digest("hex");
    const held = clients.get(key);
    if (held !== undefined) return held;
    const client = through(server);
    clients.set(key, client);
    return client;
  };

  return {
    forTask: (proxyId) =>
      proxyId === undefined ? directly : createProxyEgress(proxyId, { proxies, clock, random, clientOf }),
  };
}

interface ProxyEgressOptions extends Pick<EgressOptions, "proxies" | "clock"> {
  random(): number;
  clientOf(server: ProxyServer): Agent;
}

/**
 * A server for the whole task; another one where it fails. A config that is changed, switched off or removed counts
 * within a second, for requests that wait for their turn too.
 */
function createProxyEgress(proxyId: string, { proxies, clock, random, clientOf }: ProxyEgressOptions): TaskEgress {
  let chosen: { config: SharedProxyConfig; index: number } | undefined;
  let choosing: Promise<void> | undefined;
  let rotationIndex = 0;
  let uses: ServerUse[] = [];
  let counted: SharedProxyConfig | undefined;
  /** Servers that failed since one last worked. */
  let failed = new Set<number>();

  const unavailable = (why: string): RequestRefused =>
    new RequestRefused("PROXY_UNAVAILABLE", `The request was not made: the proxy config ${proxyId} ${why}`);

  const choose = async (config: SharedProxyConfig): Promise<void> => {
    if (counted === undefined || !isDeepStrictEqual(counted, config)) {
      ({ rotationIndex, uses } = await proxies.takeRotation(proxyId, config.servers));
      [counted, failed] = [config, new Set()];
    }
    const situation = { rotationIndex, tried: failed, now: clock.now(), random: random() };
    const index = chooseServer(config.rotation, uses, situation);
    // all have failed: the next try of the URL begins anew
    if (index === undefined) throw unavailable("has no server left that works");
    chosen = { config, index };
    const server = config.servers[index];
    if (server !== undefined && config.rotation === "least_used") await proxies.countUse(proxyId, server);
  };

  const current = async (): Promise<{ server: ProxyServer; index: number }> => {
    const config = await proxies.read(proxyId);
    if (config === undefined) throw unavailable("does not exist any more");
    if (!config.active) throw unavailable("is switched off");
    for (;;) {
      const server = chosen?.config.servers[chosen.index];
      if (chosen !== undefined && server !== undefined && isDeepStrictEqual(chosen.config, config)) {
        return { server, index: chosen.index };
      }
      choosing ??= choose(config).finally(() => {
        choosing = undefined;
      });
      await choosing;
    }
  };

  return {
    async chooseRoute() {
      const { server, index } = await current();
      const of = counted;
      const use = uses[index];
      return {
        client: clientOf(server),
        server,
        async report({ fault }) {
          if (fault?.code !== "PROXY_UNAVAILABLE") {
            if (use !== undefined && use.failures > 0) {
              Object.assign(use, { failures: 0, downUntil: 0 });
              await proxies.reportSuccess(proxyId, server);
            }
            failed.clear();
            return false;
          }
          // of several requests that fail at once, the first counts
          if (of !== counted || chosen?.index !== index) return true;
          chosen = undefined;
          failed.add(index);
          if (use !== undefined) {
            use.failures += 1;
            await proxies.reportFailure(proxyId, server, use.failures);
          }
          const left = failed.size < uses.length;
          if (!left) failed = new Set();
          return left;
        },
      };
    },
  };
}

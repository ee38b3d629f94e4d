/** Fetches the documents of a discovery: through the URL guard, at each host's slots, under robots.txt. */
import type { Agent } from "undici";
import { type UrlGuard, UrlRefusedError } from "../../access/url-guard.ts";
import type { CaptureError } from "../../capture/capture.ts";
import type { Clock } from "../../platform/clock.ts";
import type { BodyBudget, Exchange, ExchangeLimits, HttpResponse } from "../http/exchange.ts";
import { followRedirects, isRedirect, type Reply } from "../http/redirects.ts";
import { RequestRefused } from "../http/request-refused.ts";
import { CircuitOpen } from "../politeness/host-permit.ts";
import type { HostStates } from "../politeness/host-state.ts";
import { createPoliteClient, type PoliteClient } from "../politeness/polite-client.ts";
import { SlotTooFar } from "../politeness/slot-queue.ts";
import { directEgress } from "../proxies/egress.ts";
import type { RobotsCache } from "../robots/cache.ts";
import { createRobotsGate } from "../robots/gate.ts";
import type { RobotsRules } from "../robots/rules.ts";
import { MAX_LIST_BYTES } from "./list-reader.ts";

export interface FetcherDependencies {
  guard: UrlGuard;
  client: Agent;
  budget: BodyBudget;
  hosts: HostStates;
  robots: RobotsCache;
  clock: Clock;
  settings: {
    userAgent: string;
    /** Requests a second per host. */
    defaultRps: number;
    robotsUnreachable: "disallow" | "allow";
  };
}

export interface FetcherOptions {
  /** Aborted when the time is up. */
  signal: AbortSignal;
  /** Epoch ms of that. */
  deadline: number;
  /** Requests a second of one host that is asked otherwise than others. */
  rates?: ReadonlyMap<string, number>;
}

export interface GetOptions {
  accept: string;
  /** `obey`: robots.txt decides; `invited`: the host's own robots.txt named the URL; `api`: it is made for programs. */
  robots: "obey" | "invited" | "api";
  /** Tries where the fault is transient. */
  tries?: number;
  /** What makes the request conditional: an answer 304 is a fault of that status. */
  validators?: readonly [string, string][];
}

export type Fetched =
  | { url: URL; response: HttpResponse; fault: null }
  /** `status`: of the answer; 0 where none came. */
  | { url: URL; status: number; fault: Pick<CaptureError, "code" | "message"> };

export interface Fetcher {
  /**
   * Follows redirects.
   * @throws TimeUp
   */
  get(url: URL, options: GetOptions): Promise<Fetched>;
  /** @throws TimeUp */
  robotsOf(root: URL): Promise<RobotsRules | CaptureError>;
  /** `ROBOTS__UNREACHABLE=allow` */
  readonly goesOnWithoutRobots: boolean;
}

/** The deadline has passed. */
export class TimeUp extends Error {}

const MAX_REDIRECTS = 5;
const TIMEOUT_MS = 60_000;
/** A slot further away than this is not reserved, but asked for again when it is near. */
const MAX_SLOT_WAIT_MS = 5_000;
/** For a slot, of one request. */
const LONGEST_WAIT_MS = 120_000;
const FIRST_PAUSE_MS = 1_000;

export function createFetcher(dependencies: FetcherDependencies, { signal, deadline, rates }: FetcherOptions): Fetcher {
  const { guard, client, budget, hosts, clock, settings } = dependencies;
  const clients = new Map<string, PoliteClient>();
  const startedAt = clock.now();

  const clientOf = (host: string): PoliteClient => {
    const held = clients.get(host);
    if (held !== undefined) return held;
    const made = createPoliteClient({
      host,
      waitingSince: startedAt,
      jobRps: rates?.get(host) ?? settings.defaultRps,
      states: hosts,
      egress: directEgress(client),
      budget,
      clock,
      signal,
      maxWaitMs: () => MAX_SLOT_WAIT_MS,
      wanted: () => 0,
      deadline,
    });
    clients.set(host, made);
    return made;
  };

  /** @throws RequestRefused, TimeUp */
  const ask = async (url: URL, headers: readonly [string, string][], limits: ExchangeLimits): Promise<Exchange> => {
    const latest = clock.now() + LONGEST_WAIT_MS;
    for (;;) {
      const left = deadline - clock.now();
      if (signal.aborted || left <= 0) throw new TimeUp();
      try {
        const timeoutMs = Math.min(limits.timeoutMs, left);
        return await clientOf(url.host).get(url, headers, { ...limits, timeoutMs });
      } catch (error) {
        if (signal.aborted) throw new TimeUp();
        if (error instanceof CircuitOpen) throw new RequestRefused("CIRCUIT_OPEN", error.message);
        if (!(error instanceof SlotTooFar)) throw error;
        if (clock.now() + error.waitMs > latest) {
          throw new RequestRefused("RATE_LIMITED", `${url.host} has no free slot for the next ${error.waitMs} ms`);
        }
        // a job of pages has reserved what is nearer
        await pause(error.waitMs);
      }
    }
  };

  const robots = createRobotsGate({
    cache: dependencies.robots,
    guard,
    userAgent: settings.userAgent,
    unreachable: settings.robotsUnreachable,
    get: ask,
    // the archive is for pages
    archive: async () => undefined,
    onCrawlDelay: (origin, delayMs) => clientOf(origin.host).slowTo(delayMs),
    now: clock.now,
    pause,
  });

  const follow = async (
    start: URL,
    { accept, robots: rule, validators = [] }: GetOptions,
  ): Promise<Fetched & { retryable?: boolean }> => {
    const headers: [string, string][] = [
      ["user-agent", settings.userAgent],
      ["accept", accept],
      ["accept-encoding", "gzip, deflate, br, zstd"],
      ...validators,
    ];
    const final = ({ code, message }: Pick<CaptureError, "code" | "message">): Reply => ({
      response: null,
      fault: { code, message, retryable: false },
    });
    const request = async (next: URL, cookies: string | null): Promise<Reply> => {
      try {
        const url = guard.inspect(next.href);
        const invited = rule === "invited" && url.origin === start.origin;
        const denied = rule === "api" || invited ? null : await robots.faultOf(url);
        if (denied !== null) return final(denied);
        const sent: [string, string][] = cookies === null ? headers : [...headers, ["cookie", cookies]];
        const reply = await ask(url, sent, { timeoutMs: TIMEOUT_MS, maxBodyBytes: MAX_LIST_BYTES });
        // the body of a redirect is not wanted
        return reply.response !== null && isRedirect(reply.response.status) ? { ...reply, fault: null } : reply;
      } catch (error) {
        if (error instanceof UrlRefusedError) return final(error);
        if (error instanceof RequestRefused) return final(error.fault);
        throw error;
      }
    };
    const first = new URL(start);
    first.hash = "";
    const { url, response, fault, strayed } = await followRedirects(first, MAX_REDIRECTS, request);
    const status = response?.status ?? 0;
    const ended = (error: CaptureError) => ({ url, status, fault: error, retryable: error.retryable });
    if (strayed && fault !== null) return ended(fault);
    if (response === null) return ended(fault ?? { code: "CONNECT_FAILED", message: "No answer", retryable: true });
    // what came before a fault counts, where it is the body of a list
    if (status >= 200 && status <= 299 && (fault === null || response.body.length > 0)) {
      return { url, response, fault: null };
    }
    if (fault !== null) return ended(fault);
    const message = `The server answered ${status}`;
    return ended({ code: `HTTP_${status}`, message, retryable: status >= 500 || status === 429 });
  };

  return {
    async get(url, options) {
      for (let attempt = 1; ; attempt += 1) {
        const fetched = await follow(url, options);
        if (fetched.fault === null || !fetched.retryable || attempt >= (options.tries ?? 1)) return fetched;
        await pause(FIRST_PAUSE_MS * 2 ** (attempt - 1));
      }
    },
    robotsOf: (root) => robots.rulesOf(root),
    goesOnWithoutRobots: settings.robotsUnreachable === "allow",
  };

  async function pause(ms: number): Promise<void> {
    if (clock.now() + ms >= deadline) throw new TimeUp();
    try {
      await clock.sleep(ms, signal);
    } catch (error) {
      throw signal.aborted ? new TimeUp() : error;
    }
  }
}

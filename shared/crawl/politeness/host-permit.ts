/** Grants permits to ask a host: not while it is blocked, and one at a time while its circuit is half-open. */
import type { Clock } from "../../platform/clock.ts";
import type { Exchange } from "../http/exchange.ts";
import { RequestRefused } from "../http/request-refused.ts";
import { askedSilence } from "./asked-silence.ts";
import { circuitOf, circuitOpenUntil, type HostState, type HostStates, isKnownToAnswer } from "./host-state.ts";
import type { KnownHost } from "./host-view.ts";
import { HostWait } from "./host-wait.ts";

/** The host failed too often in a row: nobody asks it before then, when one request may try. */
export class CircuitOpen extends Error {
  readonly waitMs: number;

  /** @param until epoch ms; left out where another worker finds out at the moment */
  constructor(message: string, waitMs: number, until?: number) {
    super(message, until === undefined ? undefined : { cause: new HostWait("CIRCUIT_OPEN", message, until) });
    this.name = "CircuitOpen";
    this.waitMs = Math.ceil(waitMs);
  }
}

/** Leave to make one request. */
export interface Permit {
  /**
   * Must be called right before the request leaves, which may be long after the permit was granted.
   *
   * @throws as `acquire` does
   */
  confirm(): void;
  /**
   * Must be called once the request has ended.
   *
   * @param answered it was made, and `learnFrom` has its exchange
   */
  release(answered: boolean): Promise<void>;
}

export interface HostPermits {
  /**
   * Grants a permit where the host is not blocked and its circuit is closed, or half-open and the request its one
   * probe.
   *
   * @param longestMs that the request may take
   * @param retried the URL has failed before: it is no probe while one that has not may come
   * @throws RequestRefused, CircuitOpen
   */
  acquire(longestMs: number, retried?: boolean): Promise<Permit>;
  /**
   * Holds the host back, counts failures, closes the circuit.
   * @param retried the URL has failed before: when it fails again, that is the URL's fault, unless the circuit is open
   */
  learnFrom(exchange: Exchange, retried?: boolean): Promise<void>;
  /** Tells the other workers of the answers that came. */
  shareAnswers(): Promise<void>;
}

/**
 * Openings of a circuit that a job waits through. What still waits when it opens once more ends, so that a host that
 * stays down costs a job bounded time.
 */
const OPENINGS_WAITED = 3;
/** Until it is asked again what came of another worker's probe, in ms. */
const PROBE_PAUSE_MS = 5000;
/** For so long, or a tenth of the time that a circuit is open, the probe is for URLs that never failed. */
const UNTRIED_FIRST_MS = 30_000;
/** Faults of requests that never reached the host: no fault of a URL. */
const UNREACHED: ReadonlySet<string> = new Set(["CONNECT_FAILED", "CONNECT_TIMEOUT", "DNS_FAILURE"]);
/** A probe may have to wait for its slot as long as another host's request does. */
const PROBE_SLOT_WAIT_MS = 35_000;

/** @param waitingSince epoch ms from which the job may have waited for the host */
export function createHostPermits(host: KnownHost, states: HostStates, clock: Clock, waitingSince = 0): HostPermits {
  /** The probe of this task, if one is under way: its other requests wait for what comes of it. */
  let probe: Promise<void> | undefined;

  /** Proper answers that no other worker knows of. */
  let answers = 0;

  const shareAnswers = async (): Promise<void> => {
    const count = answers;
    answers = 0;
    if (count === 0 || (host.seen !== undefined && isKnownToAnswer(host.seen, clock.now()))) return;
    host.learn(await states.recordAnswers(host.name, count));
  };

  const tryProbe = async (longestMs: number): Promise<Permit | undefined> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    probe = promise;
    const end = (): void => {
      probe = undefined;
      resolve();
    };
    let until: number | undefined;
    try {
      until = await states.takeProbe(host.name, await host.current(), longestMs + PROBE_SLOT_WAIT_MS);
    } finally {
      if (until === undefined) end();
    }
    if (until === undefined) return undefined;
    const lease = until;
    return {
      confirm: () => refuseBlocked(host.seen),
      async release(answered) {
        try {
          if (!answered) await states.dropProbe(host.name, lease);
        } finally {
          end();
        }
      },
    };
  };

  const refuseBlocked = (seen: HostState | undefined): void => {
    if (seen?.blocked) throw new RequestRefused("DOMAIN_BLOCKED", `The domain setting of ${host.name} blocks it`);
  };

  const refuse = (seen: HostState): never => {
    const now = clock.now();
    const failed = `${host.name} failed ${seen.failures} times in a row`;
    const until = circuitOpenUntil(seen);
    if (now >= until) {
      const waitMs = Math.min(PROBE_PAUSE_MS, Math.max(1000, seen.probe_until - now));
      throw new CircuitOpen(`${failed}, and another worker tries it at the moment`, waitMs);
    }
    const waited = seen.opened_at - Math.max(seen.down_since, waitingSince);
    if (waited >= OPENINGS_WAITED * seen.circuit_timeout_s * 1000) {
      throw new RequestRefused("CIRCUIT_OPEN", `${failed}, and has not answered for ${Math.round(waited / 1000)} s`);
    }
    throw new CircuitOpen(`${failed}: it is left alone until ${new Date(until).toISOString()}`, until - now, until);
  };

  const closedPermit: Permit = {
    confirm() {
      refuseBlocked(host.seen);
      if (host.seen !== undefined && circuitOf(host.seen, clock.now()) !== "closed") refuse(host.seen);
    },
    release: async () => undefined,
  };

  const leaveProbe = (seen: HostState): void => {
    const now = clock.now();
    const waitMs = circuitOpenUntil(seen) + Math.min(UNTRIED_FIRST_MS, seen.circuit_timeout_s * 100) - now;
    if (waitMs > 0) throw new CircuitOpen(`${host.name} is tried with another URL first`, waitMs);
  };

  return {
    shareAnswers,
    async acquire(longestMs, retried = false) {
      for (;;) {
        const seen = await host.current();
        refuseBlocked(seen);
        const circuit = circuitOf(seen, clock.now());
        if (circuit === "closed") return closedPermit;
        if (probe !== undefined) {
          await probe;
          continue;
        }
        if (circuit === "half-open" && retried) leaveProbe(seen);
        const permit = circuit === "half-open" ? await tryProbe(longestMs) : undefined;
        if (permit !== undefined) return permit;
        if (circuit === "half-open") await host.refresh();
        const now = host.seen ?? seen;
        if (circuitOf(now, clock.now()) !== "closed") refuse(now);
      }
    },
    async learnFrom(exchange, retried = false) {
      const wait = exchange.response ? askedSilence(exchange.response, clock.now()) : undefined;
      if (wait !== undefined) {
        const until = clock.now() + wait;
        const seen = await host.current();
        // first here: until it is written, this task's next requests would leave
        host.learn({ ...seen, hold_until: Math.max(seen.hold_until, until) });
        await states.hold(host.name, until);
      }
      const seen = await host.current();
      const closed = seen.opened_at === 0;
      const status = exchange.response?.status ?? 0;
      // who asks for silence is no broken host; but what probes a broken one wants an answer that is one
      const failed = exchange.fault?.retryable || (status >= 500 && (wait === undefined || !closed));
      if ((failed && !(retried && closed)) || (exchange.fault !== null && !closed)) {
        await shareAnswers();
        const reached = exchange.fault === null || !UNREACHED.has(exchange.fault.code);
        host.learn(await states.recordFailure(host.name, exchange.url.href, reached));
      }
      if (exchange.fault === null && status > 0 && status < 500) {
        // a file that the front of a site has says little of the site
        if (exchange.url.pathname !== "/robots.txt") answers += 1;
        if (seen.failures > 0 || !closed) host.learn(await states.recordSuccess(host.name));
      }
    },
  };
}

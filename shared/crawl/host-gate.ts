/** Whether a host may be asked at all, and what its answers mean for everyone who asks it. */
import type { CaptureErrorCode } from "../capture/capture.ts";
import type { Clock } from "../platform/clock.ts";
import { type Exchange, headerValue } from "./exchange.ts";
import { fault } from "./fetch-faults.ts";
import { CIRCUIT_OPEN_MS, circuitOf, type HostStates } from "./host-state.ts";
import type { KnownHost } from "./known-host.ts";
import { retryAfterMs } from "./retry-after.ts";

/** No request was made, for a reason that ends the URL. */
export class RequestRefused extends Error {
  readonly fault;

  constructor(code: CaptureErrorCode, message: string) {
    super(message);
    this.name = "RequestRefused";
    this.fault = fault(code, message);
  }
}

export interface HostGate {
  /**
   * Lets a request pass where the host is not blocked and its circuit is closed, or half-open and the request its one probe.
   * @returns to be called once the request is over
   * @throws RequestRefused
   */
  pass(): Promise<() => void>;
  /** Holds the host back, counts failures, closes the circuit. */
  learnFrom(exchange: Exchange): Promise<void>;
}

/** What a 429 without Retry-After asks for, in ms. */
const DEFAULT_HOLD_MS = 5000;

export function createHostGate(host: KnownHost, states: HostStates, clock: Clock): HostGate {
  /** The probe of this task, if one is under way: its other requests wait for what comes of it. */
  let probe: Promise<void> | undefined;

  const tryProbe = async (): Promise<(() => void) | undefined> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    probe = promise;
    const over = (): void => {
      probe = undefined;
      resolve();
    };
    if (await states.takeProbe(host.name, await host.current())) return over;
    over();
    return undefined;
  };

  /** @returns ms to stay away, where the answer asks for it */
  const askedWait = ({ response }: Exchange): number | undefined => {
    if (response?.status !== 429 && response?.status !== 503) return undefined;
    const asked = retryAfterMs(headerValue(response.headers, "retry-after"), clock.now());
    return asked ?? (response.status === 429 ? DEFAULT_HOLD_MS : undefined);
  };

  return {
    async pass() {
      for (;;) {
        const seen = await host.current();
        if (seen.blocked) throw new RequestRefused("DOMAIN_BLOCKED", `The domain setting of ${host.name} blocks it`);
        const circuit = circuitOf(seen, clock.now());
        if (circuit === "closed") return () => undefined;
        if (probe !== undefined) {
          await probe;
          continue;
        }
        const over = circuit === "half-open" ? await tryProbe() : undefined;
        if (over !== undefined) return over;
        const until = new Date(seen.opened_at + CIRCUIT_OPEN_MS).toISOString();
        throw new RequestRefused("CIRCUIT_OPEN", `${host.name} failed ${seen.failures} times in a row, until ${until}`);
      }
    },
    async learnFrom(exchange) {
      const wait = askedWait(exchange);
      const seen = await host.current();
      if (wait !== undefined) {
        const until = clock.now() + wait;
        await states.hold(host.name, until);
        host.learn({ ...seen, hold_until: Math.max(seen.hold_until, until) });
        return;
      }
      const status = exchange.response?.status ?? 0;
      if (exchange.fault?.retryable || status >= 500) host.learn(await states.recordFailure(host.name));
      else if (seen.failures > 0 || seen.opened_at > 0) host.learn(await states.recordSuccess(host.name));
    },
  };
}

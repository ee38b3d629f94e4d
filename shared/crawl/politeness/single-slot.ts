/** Takes one slot of a host, for a renderer that asks the site for the page once more. */
import type { Clock } from "../../platform/clock.ts";
import { ThrottledError } from "../../platform/errors.ts";
import type { RenderClaim } from "../tasks/render-task.ts";
import type { HostStates } from "./host-state.ts";
import { paceOf } from "./pace.ts";

const LONGEST_WAIT_MS = 5_000;

/** @throws ThrottledError where the host has no free slot soon: the message is delivered again */
export async function waitForSlot(
  {
    hosts,
    clock,
    settings,
  }: { hosts: Pick<HostStates, "read" | "reserve">; clock: Clock; settings: { defaultRps: number } },
  { capture, config }: RenderClaim,
): Promise<void> {
  const { host } = new URL(capture.finalUrl);
  const seen = await hosts.read(host);
  const { intervalMs } = paceOf(config.rate_limit_rps ?? settings.defaultRps, seen.rate_limit_rps, 0);
  const notBefore = Math.max(clock.now(), seen.hold_until);
  const { firstAt, taken } = await hosts.reserve(host, intervalMs, {
    notBefore,
    maxWaitMs: LONGEST_WAIT_MS,
    intervalMs,
  });
  if (!taken) {
    const retryAfterMs = Math.max(1000, firstAt - clock.now());
    throw new ThrottledError(`${host} has no free slot`, { code: "HOST_BUSY", retryAfterMs });
  }
  await clock.sleep(Math.max(0, firstAt - clock.now()));
}

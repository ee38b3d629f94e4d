/** Takes one slot of a host, for a renderer that asks the site for the page once more. */
import type { Clock } from "../../platform/clock.ts";
import type { RenderClaim } from "../tasks/render-task.ts";
import type { HostStates } from "./host-state.ts";
import { paceOf } from "./pace.ts";

const LONGEST_WAIT_MS = 5_000;

/** @returns 0 once the slot is there; where the host has none soon, ms until it may have one */
export async function waitForSlot(
  {
    hosts,
    clock,
    settings,
  }: { hosts: Pick<HostStates, "read" | "reserve">; clock: Clock; settings: { defaultRps: number } },
  { capture, config }: RenderClaim,
): Promise<number> {
  const { host } = new URL(capture.finalUrl);
  const seen = await hosts.read(host);
  const { intervalMs } = paceOf(config.rate_limit_rps ?? settings.defaultRps, seen.rate_limit_rps, 0);
  const notBefore = Math.max(clock.now(), seen.hold_until);
  const { firstAt, taken } = await hosts.reserve(host, intervalMs, {
    notBefore,
    maxWaitMs: LONGEST_WAIT_MS,
    intervalMs,
  });
  if (!taken) return Math.max(1000, firstAt - clock.now());
  await clock.sleep(Math.max(0, firstAt - clock.now()));
  return 0;
}

/**
 * A runtime under mixed load, while all that can fail around its functions fails: nothing that was answered for is
 * lost. RELIABILITY_SECONDS says for how long; `npm run bench -- reliability` does so for half an hour.
 */
import { expect, it } from "vitest";
import { runReliability } from "../../../bench/reliability/run.ts";

const SECONDS = Number(process.env["RELIABILITY_SECONDS"] ?? 40);

it(
  `keeps all invariants over ${SECONDS} s of crawls, uploads, searches, deletes and faults`,
  async () => {
    const options = { seconds: SECONDS, pauseS: 1, outageS: 2, longestSettlingS: 900 };
    const { faults, figures } = await runReliability(options);
    expect(faults).toEqual([]);
    expect(figures["pages_crawled"]).toBeGreaterThan(0);
    expect(figures["injected_runtime_killed"]).toBeGreaterThan(0);
  },
  SECONDS * 1_000 + 1_200_000,
);

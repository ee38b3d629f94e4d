/**
 * Half an hour of everything at once, while all that can fail around the functions fails. It ends with an error where
 * anything was lost; docs/reliability.md tells what it does and what was seen.
 */
import type { Benchmark } from "../bench.ts";
import { runReliability } from "../reliability/run.ts";

const SECONDS = 1_800;

export const run: Benchmark = async ({ scale }) => {
  const { faults, figures } = await runReliability({
    seconds: SECONDS * scale,
    pauseS: 8,
    outageS: 5,
    longestSettlingS: 1_200,
  });
  for (const fault of faults) process.stderr.write(`does not hold: ${fault}\n`);
  if (faults.length > 0) process.exitCode = 1;
  return { ...figures, invariants_broken: faults.length };
};

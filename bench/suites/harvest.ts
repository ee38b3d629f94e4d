/**
 * Search runs through the local runtime, 20 at once: providers that take 800 ms each and a model that takes 1 s. Warm:
 * the question was rewritten before; cold: never.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startInstance } from "../../test/services/instance.ts";
import { chatCompletion, providerDouble, RESULTS } from "../../test/services/provider-doubles.ts";
import type { BenchOptions } from "../bench.ts";

const CONCURRENCY = 20;
const ROUNDS = 6;
const WARM_UP_ROUNDS = 20;
const PROVIDER_MS = 800;
const MODEL_MS = 1000;
const NAMES = ["serper", "google", "brave"] as const;

export async function run({ scale }: BenchOptions): Promise<Record<string, number>> {
  const folder = await mkdtemp(join(tmpdir(), "strandline-harvest-"));
  const schema = JSON.stringify({ keywords: ["climate report"], filters: { date_after: "{LAST_WEEK_START}" } });
  const model = await providerDouble(() => ({ ...chatCompletion(schema), delayMs: MODEL_MS }));
  const doubles = await Promise.all(
    NAMES.map((name) =>
      providerDouble(() => {
        const urls = Array.from(
          { length: 10 },
          (_, index) => `https://${index % 3 === 0 ? "all" : name}.example/${index}`,
        );
        return { ...RESULTS[name](...urls), delayMs: PROVIDER_MS };
      }),
    ),
  );
  const providers = Object.fromEntries(NAMES.map((name, index) => [name, { endpoint: doubles[index]?.url }]));
  await writeFile(join(folder, "prompt.txt"), "Rewrite.");
  const config = {
    search: { cascade_order: NAMES, providers },
    llm: { provider: "local", model: "m", endpoint: model.url, prompt_file: "prompt.txt" },
  };
  await writeFile(join(folder, "harvest.yaml"), JSON.stringify(config));
  const instance = await startInstance({
    env: { HARVEST__CONFIG_FILE: join(folder, "harvest.yaml"), ACCESS__ALLOW_HOSTS: "127.0.0.1" },
  });
  try {
    let failed = 0;
    const time = async (runs: number, question: (index: number) => string): Promise<number[]> => {
      const times: number[] = [];
      let next = 0;
      const worker = async (): Promise<void> => {
        for (let index = next++; index < runs; index = next++) {
          const started = performance.now();
          const answered = instance.call("POST", "/search-runs", { query: question(index) });
          await answered.then(
            () => times.push(performance.now() - started),
            () => (failed += 1),
          );
        }
      };
      await Promise.all(Array.from({ length: CONCURRENCY }, worker));
      return times.sort((one, other) => one - other);
    };
    // thirty containers start at once, which may take longer than a model is waited for
    for (let round = 0; round < WARM_UP_ROUNDS; round += 1) {
      failed = 0;
      await time(CONCURRENCY, (index) => `warm-up ${round} ${index}`);
      if (failed === 0) break;
    }
    failed = 0;
    await time(1, () => "known");
    const runs = Math.ceil(ROUNDS * scale) * CONCURRENCY;
    const warm = await time(runs, () => "known");
    const cold = await time(runs, (index) => `never asked ${index}`);
    const at = (times: number[], share: number) => Math.round(times[Math.floor(times.length * share)] ?? Number.NaN);
    return {
      concurrent_runs: CONCURRENCY,
      failed_runs: failed,
      warm_p50_ms: at(warm, 0.5),
      warm_p95_ms: at(warm, 0.95),
      cold_p50_ms: at(cold, 0.5),
      cold_p95_ms: at(cold, 0.95),
    };
  } finally {
    await instance.stop();
    for (const double of [model, ...doubles]) double.close();
    await rm(folder, { recursive: true, force: true });
  }
}

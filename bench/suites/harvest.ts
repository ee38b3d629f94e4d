/**
 * Search runs through the local runtime, 20 at once: providers that take 800 ms each and a model that takes 1 s. Warm: the
 * question was rewritten before; cold: never.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startInstance } from "../../test/services/instance.ts";
import { chatCompletion, providerDouble, RESULTS } from "../../test/services/provider-doubles.ts";
import type { BenchOptions } from "../bench.ts";

const CONCURRENCY = 20;
const ROUNDS = 6;
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
    const runs = Math.ceil(ROUNDS * scale) * CONCURRENCY;
    const time = async (question: (index: number) => string): Promise<number[]> => {
      const times: number[] = [];
      let next = 0;
      const worker = async (): Promise<void> => {
        for (let index = next++; index < runs; index = next++) {
          const started = performance.now();
          await instance.call("POST", "/search-runs", { query: question(index) });
          times.push(performance.now() - started);
        }
      };
      await Promise.all(Array.from({ length: CONCURRENCY }, worker));
      return times.sort((one, other) => one - other);
    };
    // the containers start and the question is rewritten
    await time(() => "known");
    const warm = await time(() => "known");
    const cold = await time((index) => `never asked ${index}`);
    const at = (times: number[], share: number) => Math.round(times[Math.floor(times.length * share)] ?? Number.NaN);
    return {
      concurrent_runs: CONCURRENCY,
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

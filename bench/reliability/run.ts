/** A runtime under mixed load and faults for a while, and what is left of it. */
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { startGraphSite } from "../../test/services/graph-site.ts";
import { startInstance } from "../../test/services/instance.ts";
import { memoryMb } from "../../test/services/processes.ts";
import { startQdrant } from "../../test/services/qdrant-server.ts";
import { createFaults } from "./faults.ts";
import { startFlakyProxy, startFlakyReceiver } from "./flaky-doubles.ts";
import { checkInvariants, type Findings, settle } from "./invariants.ts";
import { endLoad, prepareLoad, work } from "./load.ts";
import type { TestedSystem } from "./tested-system.ts";

export interface ReliabilityOptions {
  /** Of load and faults; settling and checking come on top. */
  seconds: number;
  /** Between two faults. */
  pauseS: number;
  /** How long services are gone. */
  outageS: number;
  longestSettlingS: number;
}

const SITES = 4;
const PAGES = 120;
const QDRANT_KEY = "reliability";
const KEEP = process.env["RELIABILITY_KEEP"] === "1";

export async function runReliability(options: ReliabilityOptions): Promise<Findings> {
  const folder = await mkdtemp(join(tmpdir(), "strandline reliability "));
  const temporary = join(folder, "tmp");
  const faultsFile = join(folder, "faults.json");
  await mkdir(temporary);
  await writeFile(faultsFile, JSON.stringify({ rates: {}, clockMs: 0 }));
  const sites = await Promise.all(Array.from({ length: SITES }, () => startGraphSite(PAGES)));
  const qdrant = await startQdrant(QDRANT_KEY);
  const vectorStore = await startFlakyProxy(qdrant.url);
  const receiver = await startFlakyReceiver();
  const env = {
    FAULTS_FILE: faultsFile,
    NODE_OPTIONS: `--import "${pathToFileURL(join(import.meta.dirname, "fault-preload.ts"))}"`,
    TMPDIR: temporary,
    ACCESS__ALLOW_HOSTS: [...sites.map(({ host }) => host), receiver.host].join(","),
    QDRANT__URL: vectorStore.url,
    QDRANT__API_KEY: QDRANT_KEY,
    RATE_LIMIT__API_RPM: "1000000",
    ARCHIVE__REQUESTS_PER_MINUTE: "0",
  };
  const home = join(folder, "home");
  let instance = await startInstance({ home, env });
  const { port } = instance;
  const start = () => startInstance({ home, port, env, startTimeoutMs: options.longestSettlingS * 1000 });
  const system: TestedSystem = { instance, sites, vectorStore, receiver, answers: {}, isOver: false };
  try {
    const faults = createFaults(system, {
      file: faultsFile,
      start,
      pauseMs: options.pauseS * 1000,
      outageMs: options.outageS * 1000,
    });
    const made = await prepareLoad(system);
    const load = work(system, made);
    const injected = faults.injectAll();
    await Promise.race([delay(options.seconds * 1000), load, injected]);
    system.isOver = true;
    await injected;
    await faults.end();
    await load;
    await endLoad(system, made);
    if (KEEP) {
      const kept = { ...made, jobs: [...made.jobs], uploads: [...made.uploads], taken: [...receiver.taken] };
      await writeFile(join(folder, "made.json"), JSON.stringify(kept));
    }
    const settlingS = await settle(system, made, options.longestSettlingS * 1000);
    const { faults: found, figures } = await checkInvariants(system, made);
    const peak = (await memoryMb(system.instance.child.pid)).peak;
    await system.instance.stop();
    const left = await readdir(temporary, { recursive: true });
    if (left.length > 0) found.push(`temporary files that are left: ${left.join(", ")}`);
    return {
      faults: found,
      figures: {
        seconds: options.seconds,
        settling_s: settlingS,
        ...figures,
        searches: made.searches,
        searches_answered: made.searchesAnswered,
        deliveries_repeated: receiver.repeated,
        memory_peak_mb: peak,
        ...prefixed("answers", system.answers),
        ...prefixed("injected", await faults.counts()),
        ...recoveriesOf(faults.recoveries),
      },
    };
  } finally {
    system.isOver = true;
    instance = system.instance;
    await instance.kill();
    for (const each of [...sites, vectorStore, receiver, qdrant]) await each.close();
    if (!KEEP) await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

function prefixed(prefix: string, figures: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(figures).map(([name, figure]) => [`${prefix}_${name}`, figure]));
}

function recoveriesOf(recoveries: Record<string, number[]>): Record<string, number> {
  const figures: Record<string, number> = {};
  for (const [kind, seconds] of Object.entries(recoveries)) {
    const sorted = seconds.toSorted((a, b) => a - b);
    figures[`recovery_${kind}_median_s`] = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
    figures[`recovery_${kind}_longest_s`] = sorted.at(-1) ?? Number.NaN;
  }
  return figures;
}

/** What the runtime tells of itself: its functions, its queues, and what AWS would bill. */
import { readdirSync } from "node:fs";
import type { Family } from "../../shared/platform/observability/exposition.ts";
import type { SqsStore } from "../aws/fauxqs.ts";
import type { FunctionPool } from "../lambda/function-pool.ts";
import type { InvocationFault } from "../lambda/invocation.ts";
import type { Usage } from "../usage/usage.ts";
import { collectMetrics } from "./collector.ts";
import { PREFIX } from "./declared.ts";
import { createRegistry } from "./registry.ts";

const DURATIONS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 900];

export interface RuntimeMetrics {
  /** Takes each line that a function prints. */
  line(line: string): void;
  /** @param fault undefined where the handler answered */
  invocation(functionName: string, durationMs: number, fault: InvocationFault | undefined): void;
  families(state: RuntimeState): Family[];
}

export interface RuntimeState {
  pools: Iterable<FunctionPool>;
  /** undefined until they run. */
  queues: SqsStore | undefined;
  usage: Usage;
}

/** @param names of the functions: each is told of from the start */
export function openRuntimeMetrics(names: readonly string[], onFault: (error: Error) => void): RuntimeMetrics {
  const registry = createRegistry();
  const startedAt = Date.now();
  const line = collectMetrics(registry, (reason) => onFault(new Error(`A line of metrics was not counted: ${reason}`)));
  const known = names.map((name) => ({ function: name }));
  const durations = registry.histogram(
    `${PREFIX}function_duration_seconds`,
    "Time of invocations, loading of the handler included; the count is that of the invocations",
    DURATIONS,
    known,
  );
  const errors = registry.counter(
    `${PREFIX}function_errors_total`,
    "Invocations that ended without an answer, by fault",
  );
  return {
    line,
    invocation(name, durationMs, fault) {
      durations.observe({ function: name }, durationMs / 1000);
      if (fault !== undefined) errors.add({ function: name, fault }, 1);
    },
    families: (state) => [...stateFamilies(state, startedAt), ...registry.families()],
  };
}

/** What the process takes of the machine, its threads included; its children (Postgres, browsers) are apart. */
function footprint(): Family[] {
  const gauge = (name: string, help: string, value: number): Family => ({
    name: `${PREFIX}${name}`,
    type: "gauge",
    help,
    samples: [{ labels: {}, value }],
  });
  const resident = gauge(
    "resident_memory_bytes",
    "Resident memory of the runtime's process",
    process.memoryUsage.rss(),
  );
  if (process.platform !== "linux") return [resident];
  return [resident, gauge("threads", "Threads of the runtime's process", readdirSync("/proc/self/task").length)];
}

/**
 * How things stand now.
 * @param startedAt epoch ms
 */
function stateFamilies({ pools, queues, usage }: RuntimeState, startedAt: number): Family[] {
  return [
    ...footprint(),
    {
      name: `${PREFIX}start_time_seconds`,
      type: "gauge",
      help: "When the runtime was started, in seconds since 1970: all counters began then",
      samples: [{ labels: {}, value: startedAt / 1000 }],
    },
    {
      name: `${PREFIX}function_containers`,
      type: "gauge",
      help: "Events of each function that run, and its warm containers without work, which may be warm for several",
      samples: [...pools].flatMap(({ spec, running, warm }) => [
        { labels: { function: spec.name, state: "running" }, value: running },
        { labels: { function: spec.name, state: "warm" }, value: warm },
      ]),
    },
    {
      name: `${PREFIX}queue_messages`,
      type: "gauge",
      help: "Messages on each queue: ready to be taken, delayed, and taken but not deleted",
      samples: [...(queues?.allQueues() ?? [])].flatMap(({ name, messages, delayedMessages, inflightMessages }) => [
        { labels: { queue: name, state: "ready" }, value: messages.length },
        { labels: { queue: name, state: "delayed" }, value: delayedMessages.length },
        { labels: { queue: name, state: "in_flight" }, value: inflightMessages.size },
      ]),
    },
    {
      name: `${PREFIX}aws_calls_total`,
      type: "counter",
      help: "Calls that AWS would bill, by service and operation",
      samples: Object.entries(usage.calls).map(([name, value]) => {
        const [service = "", operation = ""] = name.split(".");
        return { labels: { service, operation }, value };
      }),
    },
    {
      name: `${PREFIX}aws_cost_dollars_total`,
      type: "counter",
      help: "What AWS would ask for calls and for the time of functions, by service",
      samples: Object.entries(usage.usd).map(([service, value]) => ({ labels: { service }, value })),
    },
    {
      name: `${PREFIX}function_gb_seconds_total`,
      type: "counter",
      help: "Time of invocations times the memory of their function, as Lambda bills it",
      samples: Object.entries(usage.functions).map(([name, { gbSeconds }]) => {
        return { labels: { function: name }, value: gbSeconds };
      }),
    },
  ];
}

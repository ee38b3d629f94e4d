/**
 * Ways on which a function may come to be woken by what it sent itself. Lambda stops such a chain after some 16 runs of
 * one function, unless the function allows it: https://docs.aws.amazon.com/lambda/latest/dg/invocation-recursion.html
 */
import { deadLetterQueue, type Topology } from "./spec.ts";

/** Functions that lead to each other, by name; one that leads to itself alone is a cycle too. */
export type Cycle = readonly string[];

/** Whom each function wakes: those that listen to a queue it sends to, or to one where its own messages end. */
export function sendGraph({ functions }: Topology): ReadonlyMap<string, ReadonlySet<string>> {
  const listeners = (queue: string) => functions.filter(({ queues }) => queues?.some((each) => each.queue === queue));
  return new Map(
    functions.map(({ name, grants, queues = [] }) => {
      const reached = [...(grants.send ?? []), ...queues.map(({ queue }) => deadLetterQueue(queue))];
      return [name, new Set(reached.flatMap(listeners).map((each) => each.name))];
    }),
  );
}

/** Every set of functions that all lead to one another, in the topology's order. */
export function cyclesOf(topology: Topology): Cycle[] {
  const graph = sendGraph(topology);
  const ahead = new Map([...graph.keys()].map((name) => [name, reachable(graph, name)]));
  const together = (one: string, other: string) => ahead.get(one)?.has(other) && ahead.get(other)?.has(one);
  const cycles: Cycle[] = [];
  for (const name of graph.keys()) {
    if (!together(name, name) || cycles.some((cycle) => cycle.includes(name))) continue;
    cycles.push([...graph.keys()].filter((each) => together(name, each)));
  }
  return cycles;
}

function reachable(graph: ReadonlyMap<string, ReadonlySet<string>>, from: string): Set<string> {
  const found = new Set(graph.get(from));
  for (const name of found) for (const next of graph.get(name) ?? []) found.add(next);
  return found;
}

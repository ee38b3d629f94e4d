import type { Usage } from "./usage.ts";

/** What was used, one line per service, and what AWS would ask for it. */
export function usageTable(usage: Usage | undefined): string {
  if (usage === undefined || usage.totalCalls === 0) return "No AWS calls were made.";
  const invocations = Object.values(usage.functions).reduce((sum, each) => sum + each.invocations, 0);
  const counts: Record<string, number> = invocations > 0 ? { lambda: invocations } : {};
  for (const [name, count] of Object.entries(usage.calls)) {
    const service = name.split(".")[0] ?? name;
    counts[service] = (counts[service] ?? 0) + count;
  }
  const lines = Object.entries(counts).map(([service, count]) => {
    return `  ${service.padEnd(12)}${String(count).padStart(10)}  $${(usage.usd[service] ?? 0).toFixed(6)}`;
  });
  return [
    "AWS calls served, and their price on AWS (us-east-1, requests and function time only):",
    ...lines,
    `  ${"total".padEnd(12)}${String(usage.totalCalls).padStart(10)}  $${usage.totalUsd.toFixed(6)}`,
  ].join("\n");
}

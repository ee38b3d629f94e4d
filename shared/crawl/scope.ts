/** Which URLs belong to a job. */
import type { Scope } from "./fetch-task.ts";

export function inScope(url: URL, scope: Scope): boolean {
  return scope.mode === "any" || url.host === scope.host;
}

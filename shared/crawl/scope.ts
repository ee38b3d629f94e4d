/** Which URLs belong to a job. */
import type { Scope } from "./fetch-task.ts";

/** The given URLs and wherever they lead. */
export const ANYWHERE: Scope = { mode: "any", roots: [], include: [], exclude: [] };

export function hostScope(...hosts: string[]): Scope {
  return { mode: "host", roots: hosts, include: [], exclude: [] };
}

export function inScope(url: URL, scope: Scope): boolean {
  return scope.mode === "any" || scope.roots.includes(url.host);
}

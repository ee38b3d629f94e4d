/**
 * Which URLs belong to a job, as far as fetch checks it: by host and path. The public suffix list and the patterns,
 * which would not fit its bundle, are the business of ingest (exact-scope.ts), which checks what comes in once more.
 */
import { z } from "zod";

/**
 * What may be fetched for a job. `any`: the given URLs, wherever they redirect, and whatever they link to; `host`: only
 * these hosts (with port); `domain`: these registrable domains with all their hosts; `prefix`: these paths and what
 * lies below them.
 */
export const scopeSchema = z.strictObject({
  mode: z.enum(["any", "host", "domain", "prefix"]),
  /** Hosts, registrable domains, or hosts with a path (`example.com/docs`), as `mode` says; empty for `any`. */
  roots: z.array(z.string()),
  /** Patterns in RE2 syntax, found anywhere in the normalised URL: at least one must be, where there are any. */
  include: z.array(z.string()).default([]),
  /** As `include`: none of them may be found. */
  exclude: z.array(z.string()).default([]),
});

export type Scope = z.infer<typeof scopeSchema>;

/** The given URLs and wherever they lead. */
export const ANYWHERE: Scope = { mode: "any", roots: [], include: [], exclude: [] };

export function hostScope(...hosts: string[]): Scope {
  return { mode: "host", roots: hosts, include: [], exclude: [] };
}

/**
 * Whether a URL is within the roots. For `domain` this holds of every host below a root, so that it may let through one
 * that has a registrable domain of its own (`bucket.s3.example.com` below `example.com`, where `s3.example.com` is a
 * public suffix).
 */
export function inScope(url: URL, { mode, roots }: Pick<Scope, "mode" | "roots">): boolean {
  switch (mode) {
    case "any":
      return true;
    case "host":
      return roots.includes(url.host);
    case "domain":
      return roots.some((root) => url.hostname === root || url.hostname.endsWith(`.${root}`));
    case "prefix":
      return roots.some((root) => isBelow(url.host + url.pathname, root));
  }
}

/** On the boundary of a path segment: `/docs` has `/docs/a` below it, and `/docs-old` beside it. */
function isBelow(path: string, root: string): boolean {
  if (!path.startsWith(root)) return false;
  return path.length === root.length || root.endsWith("/") || path[root.length] === "/";
}

/** Roots that every task of a job carries; a job of more sends each task only those of its own host. */
const ROOTS_PER_TASK = 50;

/** The scope as a task of this host carries it: without patterns, and with a bounded number of roots. */
export function taskScope({ mode, roots }: Scope, host: string): Scope {
  const own = roots.length <= ROOTS_PER_TASK ? roots : roots.filter((root) => concerns(root, host));
  return { mode, roots: own.slice(0, ROOTS_PER_TASK), include: [], exclude: [] };
}

function concerns(root: string, host: string): boolean {
  const [rootHost = ""] = root.split("/", 1);
  const hostname = new URL(`http://${host}`).hostname;
  return rootHost === host || hostname === rootHost || hostname.endsWith(`.${rootHost}`);
}

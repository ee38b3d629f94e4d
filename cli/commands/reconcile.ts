/** `reconcile`: compares all vectors with the rows, and waits until those that were lost are made again. */
import { setTimeout as pause } from "node:timers/promises";
import type { ApiClient } from "../api-client.ts";
import { EXIT } from "../exit.ts";
import type { Terminal } from "../terminal.ts";

interface Reconciled {
  orphaned_points: number;
  lost_chunks: number;
  stale_chunks: number;
  waiting_chunks: number;
  next_cursor: string | null;
}

export interface ReconcileOptions {
  dryRun?: true;
  detach?: true;
  /** Where a run before was broken off. */
  cursor?: string;
  json?: true;
}

const POLL_MS = 2_000;

export async function reconcile(
  api: ApiClient,
  terminal: Terminal,
  { dryRun: isDry, detach, cursor, json }: ReconcileOptions,
): Promise<number> {
  const dryRun = isDry === true;
  const total = { orphaned_points: 0, lost_chunks: 0, stale_chunks: 0, waiting_chunks: 0 };
  const ask = (from: string | null, dry_run: boolean) =>
    api<Reconciled>("POST", "/api/v1/documents/reconcile", { cursor: from, dry_run });
  for (let from: string | null = cursor ?? null; ; ) {
    const part = await ask(from, dryRun);
    total.orphaned_points += part.orphaned_points;
    total.lost_chunks += part.lost_chunks;
    total.stale_chunks += part.stale_chunks;
    total.waiting_chunks = part.waiting_chunks;
    from = part.next_cursor;
    if (from === null) break;
    // whoever is broken off goes on with it
    if (!json) terminal.line(terminal.dim(`${total.lost_chunks} lost so far; goes on at --cursor ${from}`));
  }
  while (!dryRun && !detach && total.lost_chunks + total.stale_chunks > 0 && total.waiting_chunks > 0) {
    await pause(POLL_MS);
    total.waiting_chunks = await waitingChunks(api);
  }
  if (json) terminal.line(JSON.stringify(total, null, 2));
  else {
    terminal.line(`${total.orphaned_points} points without a chunk${dryRun ? "" : ", removed"}`);
    terminal.line(`${total.lost_chunks} chunks without their vector${dryRun ? "" : `, ${made(total.waiting_chunks)}`}`);
    if (total.stale_chunks > 0) {
      const what = `${total.stale_chunks} chunks whose vector carries another collection or other tags`;
      terminal.line(`${what}${dryRun ? "" : `, ${made(total.waiting_chunks)}`}`);
    }
  }
  return EXIT.done;
}

const made = (waiting: number): string => (waiting === 0 ? "made again" : `asked for again; ${waiting} wait`);

/** Behind the last id nothing is left to compare. */
const LAST = Buffer.from("ffffffff-ffff-ffff-ffff-ffffffffffff").toString("base64url");

async function waitingChunks(api: ApiClient): Promise<number> {
  const { waiting_chunks } = await api<Reconciled>("POST", "/api/v1/documents/reconcile", {
    ...{ cursor: LAST, dry_run: true },
  });
  return waiting_chunks;
}

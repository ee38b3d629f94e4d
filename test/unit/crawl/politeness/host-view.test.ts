import { describe, expect, it } from "vitest";
import type { HostState } from "../../../../shared/crawl/politeness/host-state.ts";
import { createKnownHost } from "../../../../shared/crawl/politeness/host-view.ts";

const STATE: HostState = {
  next_at: 0,
  interval_ms: 0,
  hold_until: 0,
  blocked: false,
  settings_revision: 0,
  failures: 0,
  unreached: 0,
  answered: 0,
  answered_at: 0,
  opened_at: 0,
  down_since: 0,
  openings: 0,
  probe_until: 0,
  circuit_threshold: 5,
  circuit_timeout_s: 300,
};

/** A state table whose answers come when the test gives them. */
function slowReads() {
  const asked: PromiseWithResolvers<HostState>[] = [];
  const read = (): Promise<HostState> => {
    const answer = Promise.withResolvers<HostState>();
    asked.push(answer);
    return answer.promise;
  };
  return { read, asked };
}

describe("what a task knows of a host", () => {
  it("is not undone by a look that began before it was learnt", async () => {
    const { read, asked } = slowReads();
    const host = createKnownHost("a.example", { read });
    const looking = host.refresh();
    host.learn({ ...STATE, hold_until: 5_000, failures: 5, opened_at: 1_000 });
    asked[0]?.resolve(STATE);
    await looking;
    expect(host.seen).toMatchObject({ hold_until: 5_000, opened_at: 1_000 });
    const again = host.refresh();
    asked[1]?.resolve({ ...STATE, hold_until: 5_000, blocked: true });
    await again;
    expect(host.seen).toMatchObject({ blocked: true, opened_at: 0 });
  });

  it("keeps the silence that the host asked for when an answer from before it comes late", () => {
    const host = createKnownHost("a.example", slowReads());
    host.learn({ ...STATE, hold_until: 5_000 });
    host.learn({ ...STATE, next_at: 900 });
    expect(host.seen).toMatchObject({ hold_until: 5_000, next_at: 900 });
  });

  it("is read anew after a look that failed", async () => {
    const { read, asked } = slowReads();
    const host = createKnownHost("a.example", { read });
    const failing = host.current();
    asked[0]?.reject(new Error("the table does not answer"));
    await expect(failing).rejects.toThrow("does not answer");
    const looking = host.current();
    asked[1]?.resolve(STATE);
    expect(await looking).toEqual(STATE);
  });
});

/** What is looked at right before a request is written, which may be long after its turn came. */
import { Agent, buildConnector } from "undici";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createBodyBudget } from "../../../../shared/crawl/http/exchange.ts";
import type { HostState, HostStates } from "../../../../shared/crawl/politeness/host-state.ts";
import { createPoliteClient, type PoliteClientOptions } from "../../../../shared/crawl/politeness/polite-client.ts";
import { directEgress } from "../../../../shared/crawl/proxies/egress.ts";
import { systemClock } from "../../../../shared/platform/clock.ts";
import { html, type Site, startSite } from "../../../sites/site.ts";

const LIMITS = { timeoutMs: 60_000, maxBodyBytes: 1_000_000 };

/** The host's item, in memory: `state` is what is read, `reserved` the slots that were given. */
function hostItem() {
  const state: HostState = {
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
  const reserved: number[] = [];
  const states: HostStates = {
    read: async () => ({ ...state }),
    async reserve(_host, durationMs, { notBefore }) {
      const firstAt = Math.max(Date.now(), notBefore, state.next_at, state.hold_until);
      state.next_at = firstAt + durationMs;
      reserved.push(firstAt);
      return { firstAt, taken: true, state: { ...state } };
    },
    async hold(_host, until) {
      state.hold_until = until;
    },
    recordFailure: async () => ({ ...state }),
    recordAnswers: async () => ({ ...state }),
    recordSuccess: async () => ({ ...state }),
    giveBack: async () => undefined,
    freeSlots: async () => undefined,
    takeProbe: async () => undefined,
    dropProbe: async () => undefined,
    applySettings: async () => undefined,
  };
  return { state, states, reserved };
}

/** A client whose first connection is made when the test says so. */
function slowlyConnected(site: Site, more: Partial<PoliteClientOptions> = {}) {
  const begun = Promise.withResolvers<void>();
  const connect = Promise.withResolvers<void>();
  const connector = buildConnector({});
  let connections = 0;
  const agent = new Agent({
    connect(options, callback) {
      connections += 1;
      begun.resolve();
      void connect.promise.then(() => connector(options, callback));
    },
  });
  onTestFinished(() => agent.destroy());
  const halt = new AbortController();
  const item = hostItem();
  const client = createPoliteClient({
    host: site.host,
    jobRps: 10,
    waitingSince: 0,
    states: item.states,
    egress: directEgress(agent),
    budget: createBodyBudget(1),
    clock: systemClock,
    signal: halt.signal,
    maxWaitMs: () => 60_000,
    wanted: () => 0,
    deadline: Date.now() + 300_000,
    ...more,
  });
  const get = (path: string) => client.get(new URL(path, site.origin), [], LIMITS);
  return { ...item, client, get, halt, begun: begun.promise, connect: connect.resolve, connections: () => connections };
}

describe("while its connection is made, a request", () => {
  it("is not sent any more where its job was cancelled, and others use the connection", async () => {
    await using site = await startSite({}, () => html("fine"));
    const { get, halt, begun, connect, connections } = slowlyConnected(site);
    const answer = get("/cancelled");
    await begun;
    halt.abort();
    connect();
    await expect(answer).rejects.toThrow(/abort/i);
    expect(connections()).toBe(1);
    expect(site.requests).toEqual([]);
  });

  it("waits where the host asked for silence, by what another worker heard", async () => {
    await using site = await startSite({}, () => html("fine"));
    const { get, client, state, begun, connect, connections } = slowlyConnected(site);
    const answer = get("/held");
    await begun;
    state.hold_until = Date.now() + 500;
    await client.refresh();
    connect();
    expect((await answer).response?.status).toBe(200);
    expect(site.requests.map(({ at }) => at >= state.hold_until)).toEqual([true]);
    expect(connections()).toBe(1);
  });

  it("takes another slot where it would meet the first ones of the next worker", async () => {
    await using site = await startSite({}, () => html("fine"));
    const { get, reserved, begun, connect } = slowlyConnected(site);
    const answer = get("/late");
    await begun;
    await expect.poll(() => Date.now() - (reserved[0] ?? 0)).toBeGreaterThan(600);
    connect();
    expect((await answer).response?.status).toBe(200);
    const [, second = Number.POSITIVE_INFINITY] = reserved;
    expect(site.requests.map(({ at }) => at >= second)).toEqual([true]);
  });
});

it("a request takes no less than no time, though the machine's clock is put back meanwhile", async () => {
  const { now } = Date;
  await using site = await startSite({}, () => {
    vi.spyOn(Date, "now").mockImplementation(() => now() - 90_000);
    return html("fine");
  });
  onTestFinished(() => void vi.restoreAllMocks());
  const { get, connect } = slowlyConnected(site);
  connect();
  const { durationMs, response } = await get("/");
  expect(response?.status).toBe(200);
  expect(durationMs).toBeGreaterThan(0);
  expect(durationMs).toBeLessThan(60_000);
});

it("a request leaves after a look, where the last one is too long ago", async () => {
  await using site = await startSite({}, () => html("fine"));
  const looks: number[] = [];
  const freshness = {
    recent: false,
    async ensureRecent() {
      if (this.recent) return;
      looks.push(site.requests.length);
      this.recent = true;
    },
  };
  const { get, begun, connect } = slowlyConnected(site, { freshness });
  const answer = get("/first");
  await begun;
  // meanwhile nobody looked
  freshness.recent = false;
  connect();
  await answer;
  expect(looks).toEqual([0, 0]);
  expect(site.requests).toHaveLength(1);
});

it("the silence that an answer asks for holds for the same task at once, before the state table has it", async () => {
  await using site = await startSite({
    "/first": { status: 429, headers: { "Retry-After": "1" } },
    "/second": html("fine"),
  });
  const { get, states, connect } = slowlyConnected(site);
  connect();
  const writing = Promise.withResolvers<void>();
  const written = Promise.withResolvers<void>();
  states.hold = () => {
    writing.resolve();
    return written.promise;
  };
  const refused = get("/first");
  await writing.promise;
  await get("/second");
  written.resolve();
  await refused;
  const [first, second] = site.requests;
  expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(1_000);
});

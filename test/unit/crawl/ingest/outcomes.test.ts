import fc from "fast-check";
import { expect, test } from "vitest";
import { CAPTURE_ERROR_CODES } from "../../../../shared/capture/capture.ts";
import { leaseSeconds } from "../../../../shared/crawl/frontier/claim-lease.ts";
import { MAX_ATTEMPTS, outcomeOf, retryWaitMs } from "../../../../shared/crawl/ingest/outcomes.ts";

const observed = (code: string, retryable: boolean, status = 0) => ({
  status,
  redirects: [],
  error: { code, message: "", retryable },
});

test("a capture without an error is crawled, whatever its try", () => {
  expect(outcomeOf({ status: 200, redirects: [], error: null }, 3)).toMatchObject({
    state: "crawled",
    errorCode: null,
  });
});

test("transient faults wait 1, 2 and 4 seconds, then end", () => {
  const outcomes = [0, 1, 2, 3].map((attempt) => outcomeOf(observed("HTTP_503", true, 503), attempt));
  expect(outcomes.map((each) => each.state)).toEqual(["pending", "pending", "pending", "failed"]);
  expect(outcomes.map((each) => each.waitMs)).toEqual([1000, 2000, 4000, 0]);
});

test("a fault that names its time waits that long, up to what a message can be delayed", () => {
  const waits = (retryAfterMs: number) => {
    const { error, ...rest } = observed("CIRCUIT_OPEN", true);
    return outcomeOf({ ...rest, error: { ...error, retryAfterMs } }, 1).waitMs;
  };
  expect([waits(500), waits(280_000), waits(3_600_000)]).toEqual([2000, 280_000, 900_000]);
});

test("only what was skipped without any request gives its budget back", () => {
  expect(outcomeOf(observed("ROBOTS_DENIED", false), 0)).toMatchObject({ state: "skipped", givesBudgetBack: true });
  expect(outcomeOf(observed("ROBOTS_DENIED", false), 1)).toMatchObject({ givesBudgetBack: false });
  expect(
    outcomeOf({ ...observed("OUT_OF_SCOPE", false), redirects: [{ url: "http://a.example/", status: 301 }] }, 0),
  ).toMatchObject({ state: "skipped", givesBudgetBack: false });
  expect(outcomeOf(observed("DNS_FAILURE", false), 0)).toMatchObject({ state: "failed", givesBudgetBack: false });
});

test("every code ends as its table says, and unknown ones as failed", () => {
  for (const [code, state] of Object.entries(CAPTURE_ERROR_CODES)) {
    expect(outcomeOf(observed(code, false), 0).state).toBe(state);
  }
  expect(outcomeOf(observed("HTTP_418", false, 418), 0).state).toBe("failed");
  expect(outcomeOf(observed("toString", false), 0).state).toBe("failed");
});

test("whatever arrives, a URL ends after its tries at the latest", () => {
  fc.assert(
    fc.property(fc.string(), fc.boolean(), fc.nat({ max: 599 }), (code, retryable, status) => {
      expect(outcomeOf(observed(code, retryable, status), MAX_ATTEMPTS - 1).state).not.toBe("pending");
    }),
  );
  expect(retryWaitMs(0)).toBe(1000);
});

test("a lease covers the requests of both tasks of the host at the job's rate", () => {
  expect(leaseSeconds(50, { rate_limit_rps: 10, render: "never" })).toBe(130);
  expect(leaseSeconds(50, { rate_limit_rps: undefined, render: "never" })).toBe(220);
  expect(leaseSeconds(50, { rate_limit_rps: undefined, render: "auto" })).toBe(1720);
});

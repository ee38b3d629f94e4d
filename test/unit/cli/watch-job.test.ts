import { expect, test } from "vitest";
import { ApiFailure } from "../../../cli/api-client.ts";
import { lastOf, watchJob } from "../../../cli/watch-job.ts";

const hasEnded = (job: string): boolean => job === "completed";

/** Gives or throws one after the other. */
function reading(...answers: (string | Error)[]) {
  return async (): Promise<string> => {
    const next = answers.length > 1 ? answers.shift() : answers[0];
    if (next instanceof Error) throw next;
    return next ?? "";
  };
}

const busy = new ApiFailure(503, { error: "A service behind this one does not answer", code: "SERVICE_UNAVAILABLE" });

const late = new ApiFailure(504, { error: "The function took too long", code: "GATEWAY_TIMEOUT" });

test("a job is followed through answers that it cannot be read at the moment", async () => {
  const seen: string[] = [];
  const read = reading("running", busy, busy, "running", late, "completed");
  expect(await lastOf(watchJob(read, hasEnded, 1), (job) => seen.push(job))).toBe("completed");
  expect(seen).toEqual(["running", "running", "completed"]);
});

test("which is told where it lasts", async () => {
  await expect(lastOf(watchJob(reading("running", busy), hasEnded, 1, 20))).rejects.toBe(busy);
});

test("other refusals are told at once", async () => {
  const gone = new ApiFailure(404, { error: "There is no such job", code: "NOT_FOUND" });
  await expect(lastOf(watchJob(reading("running", gone, "completed"), hasEnded, 1))).rejects.toBe(gone);
});

test("what whoever looks on throws is no answer of the API", async () => {
  const fault = Object.assign(new Error("late"), { status: 503 });
  const jobs = watchJob(reading("running"), hasEnded, 1);
  await expect(
    lastOf(jobs, () => {
      throw fault;
    }),
  ).rejects.toBe(fault);
});

import { expect, test } from "vitest";
import { followJob, type JobSource, type Told } from "../../../console/app/api/follow-job.ts";
import type { ServerEvent } from "../../../console/app/api/server-event.ts";
import type { JobProgress } from "../../../console/app/api/types.ts";

const PASSES = new TypeError("network error");

const progress = (status: string, crawled: number) => ({ status, counts: { crawled } }) as unknown as JobProgress;
const event = (id: string, crawled: number, type = "progress"): ServerEvent => ({
  event: type,
  id,
  data: JSON.stringify(progress(type === "progress" ? "running" : type, crawled)),
});

/** What is told where connections bring these events, and end with an error where one is last. */
async function told(connections: readonly (ServerEvent | Error)[][], answers: readonly (JobProgress | Error)[] = []) {
  const resumed: (string | undefined)[] = [];
  const said: Told[] = [];
  let asked = 0;
  const source: JobSource = {
    async *events(lastEventId) {
      resumed.push(lastEventId);
      for (const each of connections[resumed.length - 1] ?? []) {
        if (each instanceof Error) throw each;
        yield each;
      }
    },
    async ask() {
      const answer = answers[asked++] ?? progress("running", 0);
      if (answer instanceof Error) throw answer;
      return answer;
    },
    pause: async () => {},
    isPassing: (error) => error === PASSES,
  };
  for await (const each of followJob(source)) said.push(each);
  return { resumed, asked, said };
}

test("a stream that is cut is taken up behind its last event", async () => {
  const { resumed, asked, said } = await told([
    [event("a", 1), event("b", 2), PASSES],
    [],
    [event("c", 3, "completed")],
  ]);
  expect(resumed).toEqual([undefined, "b", "b"]);
  expect(asked).toBe(2);
  expect(said.filter((each) => "isStreamed" in each && each.isStreamed)).toHaveLength(3);
});

test("a job that has ended while nobody listened is told by the answer", async () => {
  const { resumed, said } = await told([[event("a", 1), PASSES]], [progress("completed", 9)]);
  expect(resumed).toEqual([undefined]);
  expect(said.at(-1)).toEqual({ progress: progress("completed", 9), isStreamed: false });
});

test("an API that is away for a moment is asked again, and one that refuses is not", async () => {
  const { said, asked } = await told([[PASSES], [PASSES], [PASSES]], [PASSES, PASSES, progress("failed", 1)]);
  expect(asked).toBe(3);
  expect(said).toEqual([{ error: PASSES }, { error: PASSES }, { progress: progress("failed", 1), isStreamed: false }]);
  await expect(told([[new Error("401")]])).rejects.toThrow("401");
  await expect(told([[PASSES]], [new Error("404")])).rejects.toThrow("404");
});

/** What a client that comes again names as the last event that it had: its own, and what is none of this job's. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { api as progressApi } from "../../../../functions/progress-api/handler.ts";
import { api as spiderApi } from "../../../../functions/spider-api/handler.ts";
import { uuidv7 } from "../../../../shared/platform/ids.ts";
import { callApi, type TestAnswer } from "../../../services/api.ts";
import { type ApiSetup, setUpApi } from "../api-setup.ts";

let setup: ApiSetup;
let jobId: string;
beforeAll(async () => {
  setup = await setUpApi();
  jobId = await endedJob();
});
afterAll(() => setup.close());

/** A crawl of no page that has ended. */
async function endedJob(): Promise<string> {
  const id = uuidv7();
  const settings = JSON.stringify({ scope: { mode: "domain" } });
  await setup.database.sql`
    insert into jobs (id, kind, status, generation_id, settings, started_at, completed_at)
    values (${id}, 'site', 'completed', gen_random_uuid(), ${settings}::text::jsonb, now(), now())`;
  return id;
}

const ask = (path: string, lastEventId: string | undefined, accept = "text/event-stream"): Promise<TestAnswer> => {
  const headers = { Accept: accept, ...(lastEventId !== undefined && { "Last-Event-ID": lastEventId }) };
  return callApi(path.includes("/crawl/") ? progressApi : spiderApi, { path, headers, key: setup.keys.read });
};
const idsOf = ({ body }: TestAnswer) => [...String(body).matchAll(/^id: (.*)$/gm)].map(([, id]) => id);

describe("the progress of a job", () => {
  const progressOf = (id: string, lastEventId?: string) => ask(`/api/v1/crawl/${id}/stream`, lastEventId);

  it("is not told again to who had its last event", async () => {
    const whole = await progressOf(jobId);
    expect(whole.status).toBe(200);
    const ids = idsOf(whole);
    expect(ids).toHaveLength(1);
    expect(await progressOf(jobId, ids[0])).toMatchObject({ status: 204, body: undefined });
  });

  it("is told to who had the last event of another job, however like this one", async () => {
    const [other] = idsOf(await progressOf(await endedJob()));
    const told = await progressOf(jobId, other);
    expect([told.status, idsOf(told)]).toEqual([200, idsOf(await progressOf(jobId))]);
  });

  it.each(["", "0", "-1", "99999999999999999999", "../../etc/passwd", "end", "é\t<b>", "x".repeat(10_000)])(
    "is told from its beginning to who names %j",
    async (lastEventId) => {
      const told = await progressOf(jobId, lastEventId);
      expect([told.status, idsOf(told)]).toEqual([200, idsOf(await progressOf(jobId))]);
      expect(String(told.body)).not.toContain("passwd");
    },
  );
});

describe.each(["/jobs", "/api/v1/jobs"])("the stream of the results of a job below %s", (root) => {
  const streamOf = (lastEventId?: string, accept?: string) => ask(`${root}/${jobId}/stream`, lastEventId, accept);

  it("ends at once where the count of pages seen is beyond its end, with its last record", async () => {
    for (const seen of [undefined, "", "0", "1", "1000"]) {
      for (const accept of ["text/event-stream", "application/x-ndjson"]) {
        const told = await streamOf(seen, accept);
        expect([seen, told.status]).toEqual([seen, 200]);
        expect(String(told.body)).toContain('"stats"');
      }
    }
    expect(idsOf(await streamOf("1000"))).toEqual(["end"]);
    expect(await streamOf("end")).toMatchObject({ status: 204, body: undefined });
  });

  it.each([
    ...["-1", "+1", "1.5", "1e3", "0x10", "1,2", "NaN", "end2", "END", "99999999999999999999"],
    ...["../../etc/passwd", "é", "completed-0-0-0", "9".repeat(10_000), "x".repeat(10_000)],
  ])("is refused to who names %j", async (lastEventId) => {
    const refused = await streamOf(lastEventId);
    expect(refused).toMatchObject({ status: 400, body: { error_code: "VALIDATION_ERROR" } });
    expect(refused.body.details.faults).toMatchObject([{ in: "header", path: "last-event-id" }]);
    expect(JSON.stringify(refused.body).length).toBeLessThan(1_000);
  });
});

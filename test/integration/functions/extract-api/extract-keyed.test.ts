import { afterAll, beforeAll, expect, test } from "vitest";
import { page } from "../../crawl/crawl-setup.ts";
import { type ExtractSetup, extractSetup } from "./extract-setup.ts";

let setup: ExtractSetup;
beforeAll(async () => {
  setup = await extractSetup();
});
afterAll(() => setup.close());

test.each([
  ["/extract/batch", "keyed-batch.example", { urls: ["http://keyed-batch.example/"] }],
  ["/spider/extract", "keyed-spider.example", { seeds: ["http://keyed-spider.example/"] }],
])("%s fetches nothing a second time for one Idempotency-Key", async (path, host, body) => {
  const headers = { "idempotency-key": host };
  const server = () => ({ body: page("Once") });
  const first = await setup.post(path, body, server, headers);
  expect(first).toMatchObject({ status: 200, asked: [`http://${host}/`] });
  const second = await setup.post(path, body, server, headers);
  expect(second).toMatchObject({ status: 200, asked: [] });
  expect(second.headers["x-job-id"]).toBe(first.headers["x-job-id"]);
  expect(second.headers["idempotent-replayed"]).toBe("true");
  expect(JSON.stringify(second.body)).toContain("Once");
  expect(await setup.post(path, { ...body, timeout_seconds: 7 }, server, headers)).toMatchObject({ status: 409 });
});

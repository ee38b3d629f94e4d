import { afterAll, beforeAll, expect, it } from "vitest";
import { api } from "../../../functions/crawl-api/handler.ts";
import { createRateLimiter } from "../../../shared/access/rate-limit.ts";
import { callApi } from "../../services/api.ts";
import { type ApiSetup, setUpApi } from "../functions/api-setup.ts";

let setup: ApiSetup;
beforeAll(async () => {
  setup = await setUpApi();
});
afterAll(() => setup.close());

const MINUTE = 60_000;
const START = Date.parse("2030-01-01T00:00:00Z");

it("lets through what the limit allows, then none until the next minute", async () => {
  let now = START + 10_000;
  const limiter = createRateLimiter(setup.aws.dynamo, setup.aws.stateTable, () => now);
  const states = [];
  for (let count = 0; count < 4; count += 1) states.push(await limiter.take("one", 3));
  expect(states.map(({ exceeded }) => exceeded)).toEqual([false, false, false, true]);
  expect(states.map(({ remaining }) => remaining)).toEqual([2, 1, 0, 0]);
  expect(states[0]?.resetAt).toBe(START + MINUTE);
  now = START + MINUTE;
  expect(await limiter.take("one", 3)).toMatchObject({ exceeded: false, remaining: 2, resetAt: START + 2 * MINUTE });
});

it("lets exactly the limit through however many come at once, per key", async () => {
  const limiter = createRateLimiter(setup.aws.dynamo, setup.aws.stateTable, () => START);
  const take = (key: string) => Promise.all(Array.from({ length: 30 }, () => limiter.take(key, 20)));
  for (const states of await Promise.all([take("first"), take("second")])) {
    expect(states.filter(({ exceeded }) => !exceeded)).toHaveLength(20);
  }
});

it("answers 429 with Retry-After, and says on every answer what is left", async () => {
  const { key } = await setup.createKey({ rpm: 2 });
  const call = () => callApi(api, { path: "/api/v1/jobs", key });
  // three requests that fall into two minutes are none too many: then the next ones are
  let answers = await Promise.all([call(), call(), call()]);
  if (answers.every(({ status }) => status === 200)) answers = await Promise.all([call(), call(), call()]);
  const refused = answers.find(({ status }) => status === 429);
  expect(refused?.body).toMatchObject({ code: "RATE_LIMITED", details: { limit: 2 } });
  const retryAfter = Number(refused?.headers["retry-after"]);
  expect(retryAfter).toBeGreaterThanOrEqual(1);
  expect(retryAfter).toBeLessThanOrEqual(60);
  for (const { headers } of answers) {
    expect(headers["x-ratelimit-limit"]).toBe("2");
    expect(Number(headers["x-ratelimit-remaining"])).toBeLessThan(2);
    expect(Number(headers["x-ratelimit-reset"]) * 1000).toBeGreaterThan(Date.now() - MINUTE);
  }
});

it("counts no request that was refused for its scope", async () => {
  const { key } = await setup.createKey({ rpm: 1 });
  for (let count = 0; count < 3; count += 1) {
    const answer = await callApi(api, { path: "/api/v1/crawl", json: { url: "https://a.example/" }, key });
    expect(answer.status).toBe(403);
  }
  expect((await callApi(api, { path: "/api/v1/jobs", key })).status).toBe(200);
});

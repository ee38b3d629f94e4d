import { expect, test } from "vitest";
import { loadConfig } from "../../../shared/platform/config.ts";

test.each([
  ["JOB__TIMEOUT_S", /timeout_seconds of its request/],
  ["JOB__MAX_RETRIES", /number of tries/],
  ["FEATURES__ENABLE_DEEP_CRAWL", /nothing is switched/],
  ["REDIS__URL", /no Redis/],
  ["FETCH__NO_SUCH", /no such setting/],
])("a start with %s is stopped, and told what to use", (name, message) => {
  expect(() => loadConfig({ [name]: "1" })).toThrow(message);
  expect(() => loadConfig({ [name]: "1" })).toThrow(name);
});

test("variables of other programs are left alone", () => {
  expect(() => loadConfig({ JOB_ID: "7", JAVA__HOME: "/opt", FEATURES: "all", toString__x: "1" })).not.toThrow();
});

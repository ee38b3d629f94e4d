/** Which functions share a thread, read off the topology. */
import { expect, test } from "vitest";
import type { FunctionSpec } from "../../../../infra/topology/spec.ts";
import { TOPOLOGY } from "../../../../infra/topology.ts";
import { environmentOf, type Trust, trustOf } from "../../../../local/lambda/trust.ts";

const of = (trust: Trust): FunctionSpec[] => TOPOLOGY.functions.filter((spec) => trustOf(spec) === trust);
const names = (specs: readonly FunctionSpec[]) => specs.map(({ name }) => name).toSorted();

test("what meets strangers shares a thread with nothing that may ask the database", () => {
  const withDatabase = TOPOLOGY.functions.filter(({ grants }) => grants.database);
  const trusts = new Set(withDatabase.map(trustOf));
  const others = TOPOLOGY.functions.filter(({ network }) => network === "internet");
  for (const spec of others) expect(trusts.has(trustOf(spec)), spec.name).toBe(false);
});

test("the keys of providers and the browser are where nothing else is", () => {
  expect(names(of("provider-keys"))).toEqual(["harvest"]);
  expect(names(of("browser"))).toEqual(["render", "render-media"]);
  expect(names(of("internet"))).toEqual([
    "discover",
    "docs-api",
    "engine-tasks",
    "fetch",
    "live-page",
    "proxy-test",
    "push",
    "source-schedules",
    "webhook-send",
  ]);
});

test("the database's address and password are unknown where nobody may ask it", () => {
  const env = { DATABASE__POSTGRES_URL: "postgres://u:secret@127.0.0.1/x", LOG_LEVEL: "info" };
  for (const trust of ["internet", "provider-keys", "browser"] as const) {
    expect(environmentOf(trust, env)).toEqual({ LOG_LEVEL: "info" });
  }
  expect(environmentOf("private", env)).toEqual(env);
});

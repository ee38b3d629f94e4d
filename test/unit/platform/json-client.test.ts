import { expect, test } from "vitest";
import { callJson, jsonOf } from "../../../shared/platform/json-client.ts";
import { httpDouble } from "../../services/http-double.ts";

const at = (url: string) => ({ method: "GET", url: new URL(url), timeoutMs: 5_000 }) as const;

test("what is answered is read whatever its status is, and a redirect is not followed", async () => {
  const { url, requests } = await httpDouble(() => ({
    status: 307,
    headers: { location: "/elsewhere" },
    body: { a: 1 },
  }));
  const reply = await callJson({ ...at(url), method: "POST", body: { b: 2 } });
  expect([reply.status, jsonOf(reply)]).toEqual([307, { a: 1 }]);
  expect(requests.map(({ path, body }) => [path, body])).toEqual([["/", { b: 2 }]]);
});

test.each([
  ["longer than it may be", () => ({ body: "x".repeat(2_000) }), { fault: "too large", reason: "answer too large" }],
  ["that never comes", () => "stall" as const, { fault: "timeout", reason: "timeout after 100 ms" }],
  ["that is cut off", () => "hang up" as const, { fault: "unreachable" }],
])("a body %s is a fault that is told", async (_what, respond, fault) => {
  const { url } = await httpDouble(respond);
  const timeoutMs = "timeout" === fault.fault ? 100 : 5_000;
  await expect(callJson({ ...at(url), timeoutMs, maxBytes: 1_000 })).rejects.toMatchObject({
    name: "CallFailed",
    ...fault,
  });
});

test("a call that nobody waits for any more ends", async () => {
  const { url } = await httpDouble(() => "stall");
  const call = callJson({ ...at(url), signal: AbortSignal.timeout(50) });
  await expect(call).rejects.toMatchObject({ fault: "stopped" });
});

test("neither a key that no header can hold nor a password in the address gets into an error", async () => {
  const key = callJson({ ...at("http://127.0.0.1:9/"), headers: { authorization: "Bearer se\ncret" } });
  const password = callJson(at("http://me:secret@127.0.0.1:9/"));
  for (const call of [key, password]) {
    const error = (await call.catch((caught: unknown) => caught)) as Error;
    expect(error).toMatchObject({ name: "CallFailed", fault: "unreachable" });
    expect(`${error.stack} ${JSON.stringify(error.cause)} ${error.cause}`).not.toMatch(/cret/);
  }
});

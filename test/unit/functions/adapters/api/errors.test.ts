import { expect, it } from "vitest";
import { z } from "zod";
import { createApi } from "../../../../../functions/adapters/api/api.ts";
import { MAX_BODY_BYTES, MAX_BODY_VALUES } from "../../../../../functions/adapters/api/body.ts";
import { defineRoute } from "../../../../../functions/adapters/api/route.ts";
import { ApiError, PermanentError, RetryableError, ThrottledError } from "../../../../../shared/platform/errors.ts";
import { createLogger } from "../../../../../shared/platform/observability/log.ts";
import { callApi, type TestRequest } from "../../../../services/api.ts";

const ID = "0199b3a0-0000-7000-8000-000000000000";

const ofAws = (name: string, httpStatusCode?: number) =>
  Object.assign(new Error("10.0.0.7 said no"), { name, $metadata: { httpStatusCode, attempts: 3 } });

/** An API with one route, open to everyone, that throws what it is given. */
function echoApi(fault?: unknown) {
  const lines: string[] = [];
  const echo = defineRoute(
    {
      method: "POST",
      path: "/api/v1/echo/{echo_id}",
      scope: "public",
      summary: "Says what it was given",
      params: z.strictObject({ echo_id: z.uuid() }),
      query: z.strictObject({ times: z.coerce.number().int().min(1).default(1) }),
      body: z.strictObject({ words: z.array(z.string()).min(1), style: z.strictObject({ size: z.int() }).optional() }),
      response: z.object({ words: z.array(z.string()), times: z.int() }),
    },
    async ({ body, query }) => {
      if (fault !== undefined) throw fault;
      return { words: body.words, times: query.times };
    },
  );
  const gate = {
    admit: async () => {
      throw new Error("no key is asked for");
    },
    stillAdmits: async () => false,
  };
  const api = createApi("echo-api", [echo], () => ({
    gate,
    log: createLogger({}, "debug", (line) => lines.push(line)),
  }));
  const call = (request: Partial<TestRequest> = {}) =>
    callApi(api, { path: `/api/v1/echo/${ID}`, json: { words: ["a"] }, ...request });
  return { call, lines };
}

it("answers a valid request, with its id", async () => {
  const { call } = echoApi();
  const answer = await call({ path: `/api/v1/echo/${ID}?times=3` });
  expect(answer).toMatchObject({ status: 200, body: { words: ["a"], times: 3 } });
  expect(answer.headers["x-request-id"]).toBe("test-request");
});

it("names the path of every fault of a body, unknown fields included", async () => {
  const { call } = echoApi();
  const answer = await call({ json: { words: ["a", 1], style: { size: "big", weight: 2 }, extra: true } });
  expect(answer.status).toBe(400);
  expect(answer.body).toMatchObject({ code: "VALIDATION_ERROR", request_id: "test-request" });
  const paths = answer.body.details.faults.map((fault: { in: string; path: string }) => `${fault.in} ${fault.path}`);
  expect(paths.sort()).toEqual(["body extra", "body style.size", "body style.weight", "body words[1]"]);
});

it.each([
  ["NUL", "a\0b"],
  ["half a surrogate pair", "a\ud800b"],
])("refuses text with %s, which no database stores, and says where", async (_, text) => {
  const { call } = echoApi();
  const answer = await call({ json: { words: ["fine", text] } });
  expect(answer).toMatchObject({ status: 400, body: { code: "VALIDATION_ERROR" } });
  expect(answer.body.details.faults).toMatchObject([{ in: "body", path: "words[1]" }]);
  expect(answer.body.error).toContain("words[1]");
  expect((await call({ json: { words: ["a whole 🦊"] } })).status).toBe(200);
});

it.each(['{"__proto__": {"words": ["x"]}}', '{"words": ["x"], "more": [{"\\u005f_proto__": 1}]}'])(
  "refuses the one name that no schema sees: %s",
  async (body) => {
    const { call } = echoApi();
    const answer = await call({ json: undefined, body, headers: { "Content-Type": "application/json" } });
    expect(answer).toMatchObject({ status: 400, body: { code: "VALIDATION_ERROR" } });
    expect(answer.body.error).toContain("__proto__");
    expect((await call({ json: { words: ["__proto__"] } })).status).toBe(200);
  },
);

it.each([
  ["a query parameter of the wrong type", "times=many", "times"],
  ["an unknown query parameter", "colour=red", "colour"],
  ["a query parameter given twice", "times=1&times=2", "times"],
])("refuses %s", async (_, query, path) => {
  const { call } = echoApi();
  const answer = await call({ path: `/api/v1/echo/${ID}?${query}` });
  expect(answer).toMatchObject({ status: 400, body: { code: "VALIDATION_ERROR" } });
  expect(answer.body.details.faults).toEqual([{ in: "query", path, message: expect.any(String) }]);
});

it.each([
  ["malformed JSON", { json: undefined, body: '{"words":', headers: { "Content-Type": "application/json" } }],
  ["no body at all", { json: undefined, method: "POST" }],
  ["an empty body", { json: undefined, method: "POST", body: "", headers: { "Content-Type": "application/json" } }],
])("answers 400 to %s", async (_, request) => {
  const { call } = echoApi();
  expect(await call(request as Partial<TestRequest>)).toMatchObject({
    status: 400,
    body: { code: "VALIDATION_ERROR" },
  });
});

it.each([
  ["another content type", { "Content-Type": "text/plain" }],
  ["no content type", {}],
])("answers 415 to a body with %s", async (_, headers) => {
  const { call } = echoApi();
  const answer = await call({ json: undefined, body: '{"words":["a"]}', headers: headers as Record<string, string> });
  expect(answer).toMatchObject({ status: 415, body: { code: "UNSUPPORTED_MEDIA_TYPE" } });
});

it("takes a content type with parameters, in any case", async () => {
  const { call } = echoApi();
  const headers = { "content-type": "Application/JSON; charset=utf-8" };
  expect((await call({ json: undefined, body: '{"words":["a"]}', headers })).status).toBe(200);
});

it("names the limit where a body is over it, and takes one at the limit", async () => {
  const { call } = echoApi();
  const ofLength = (bytes: number) => JSON.stringify({ words: ["x".repeat(bytes - '{"words":[""]}'.length)] });
  const headers = { "Content-Type": "application/json" };
  // it is taken, and its echo would be too large an answer
  const echoed = await call({ json: undefined, body: ofLength(MAX_BODY_BYTES), headers });
  expect(echoed).toMatchObject({ status: 400, body: { code: "RESULT_TOO_LARGE" } });
  const answer = await call({ json: undefined, body: ofLength(MAX_BODY_BYTES + 1), headers });
  expect(answer).toMatchObject({
    status: 413,
    body: { code: "PAYLOAD_TOO_LARGE", details: { limit_bytes: MAX_BODY_BYTES } },
  });
  expect(answer.body.error).toContain("6 MB");
});

it("counts the bytes of a body, not its characters", async () => {
  const { call } = echoApi();
  const body = JSON.stringify({ words: ["é".repeat(MAX_BODY_BYTES / 2)] });
  const answer = await call({ json: undefined, body, headers: { "Content-Type": "application/json" } });
  expect(answer.status).toBe(413);
});

it("refuses a body of more values than any request needs before it judges each, and takes many that are fewer", async () => {
  const { call } = echoApi();
  const many = await call({ json: { words: new Array(MAX_BODY_VALUES).fill(1) } });
  expect(many).toMatchObject({ status: 400, body: { code: "VALIDATION_ERROR" } });
  expect(many.body.error).toContain(`${MAX_BODY_VALUES} values`);
  const nested = await call({ json: { words: [], style: { size: new Array(200).fill(new Array(500).fill(1)) } } });
  expect(nested.body.error).toContain(`${MAX_BODY_VALUES} values`);
  expect((await call({ json: { words: new Array(MAX_BODY_VALUES - 2).fill("word") } })).status).toBe(200);
});

it("tells of a hundred faults, counts them all, and repeats no long name", async () => {
  const { call } = echoApi();
  const json = Object.fromEntries(Array.from({ length: 40_000 }, (_, at) => [`field_${at}`, 1]));
  const answer = await call({ json: { words: ["a"], ...json } });
  expect(answer.body.error).toContain("40000 fault(s)");
  expect(answer.body.details.faults).toHaveLength(100);
  const long = await call({ json: { words: ["a"], ["x".repeat(1_000_000)]: 1 } });
  expect(long.status).toBe(400);
  expect(JSON.stringify(long.body).length).toBeLessThan(5_000);
});

it.each([
  ["/jobs/1/nothing", { error: "NotFound", error_code: "NOT_FOUND", message: "There is no such route" }],
  ["/spider+extracts", { error: "NotFound", error_code: "NOT_FOUND", message: "There is no such route" }],
  ["/search-runs/1/nothing", { error: "There is no such route", details: "NOT_FOUND" }],
  ["/nothing", { error: "There is no such route", code: "NOT_FOUND" }],
])("answers 404 to %s in the shape of its family", async (path, body) => {
  const { call } = echoApi();
  expect((await call({ path })).body).toMatchObject(body);
});

it("answers 404 to a path parameter that can be no id", async () => {
  const { call } = echoApi();
  expect(await call({ path: "/api/v1/echo/7" })).toMatchObject({ status: 404, body: { code: "NOT_FOUND" } });
});

it("answers 404 to an unknown route, in the shape of every error", async () => {
  const { call } = echoApi();
  const answer = await call({ path: "/api/v1/nothing" });
  expect(answer).toMatchObject({ status: 404, body: { code: "NOT_FOUND", request_id: "test-request" } });
});

it("ignores a body that came with a GET", async () => {
  const { call } = echoApi();
  expect((await call({ method: "GET" })).status).toBe(404);
});

it("answers in the shape of every error where the event is no valid request", async () => {
  const { call } = echoApi();
  const answer = await call({ headers: { "not a header": "x" } });
  expect(answer).toMatchObject({ status: 400, body: { code: "BAD_REQUEST", request_id: "test-request" } });
});

const postgresDown = Object.assign(new Error("connect ECONNREFUSED 10.0.0.7:5432"), { code: "ECONNREFUSED" });

it.each([
  ["an API error", new ApiError(409, "It is taken", { code: "CONFLICT" }), 409, "CONFLICT"],
  ["a blocked URL", new PermanentError("The host is private", { code: "URL_BLOCKED" }), 403, "URL_BLOCKED"],
  ["an invalid URL", new PermanentError("No URL", { code: "URL_INVALID" }), 400, "URL_INVALID"],
  ["a retryable fault", new RetryableError("10.0.0.7 is away", { code: "QUEUE_REFUSED" }), 503, "QUEUE_REFUSED"],
  ["a database that is away", postgresDown, 503, "SERVICE_UNAVAILABLE"],
  ["a table that asks for a pause", ofAws("ProvisionedThroughputExceededException", 400), 503, "SERVICE_UNAVAILABLE"],
  ["a bucket that asks for a pause", ofAws("SlowDown", 503), 503, "SERVICE_UNAVAILABLE"],
  ["a service of AWS that fails", ofAws("InternalFailure", 500), 503, "SERVICE_UNAVAILABLE"],
  ["a service of AWS that does not answer", ofAws("TimeoutError"), 503, "SERVICE_UNAVAILABLE"],
  ["a service of AWS that refuses", ofAws("AccessDenied", 403), 500, "INTERNAL_ERROR"],
  ["another permanent fault", new PermanentError("10.0.0.7 is broken", { code: "BROKEN" }), 500, "INTERNAL_ERROR"],
  ["an unknown fault", new Error("10.0.0.7 said no"), 500, "INTERNAL_ERROR"],
  ["something thrown that is no error", "10.0.0.7", 500, "INTERNAL_ERROR"],
])("maps %s to its status and code", async (_, fault, status, code) => {
  const { call } = echoApi(fault);
  const answer = await call();
  expect(answer).toMatchObject({ status, body: { code } });
  expect(JSON.stringify(answer.body)).not.toContain("10.0.0.7");
});

it("passes a pause that another service asked for on to the caller", async () => {
  const { call } = echoApi(new ThrottledError("slow down", { code: "THROTTLED", retryAfterMs: 2_500 }));
  const answer = await call();
  expect(answer.status).toBe(503);
  expect(answer.headers["retry-after"]).toBe("3");
});

it("logs a fault with its cause and the request id, and neither body nor query", async () => {
  const { call, lines } = echoApi(new Error("outer", { cause: new Error("inner") }));
  await call({ path: `/api/v1/echo/${ID}?times=3`, json: { words: ["confidential"] } });
  const failure = lines.map((line) => JSON.parse(line)).find((line) => line.level === "error");
  expect(failure).toMatchObject({
    request_id: "test-request",
    error: { message: "outer", cause: { message: "inner" } },
  });
  expect(lines.join("\n")).not.toMatch(/confidential|times/);
});

it("refuses an answer that is larger than any function may give, and says so", async () => {
  const { call } = echoApi();
  const words = Array.from({ length: 50 }, () => '"'.repeat(50_000));
  expect(await call({ json: { words } })).toMatchObject({
    status: 400,
    body: { code: "RESULT_TOO_LARGE", error: expect.stringContaining("6 MB"), request_id: "test-request" },
  });
});

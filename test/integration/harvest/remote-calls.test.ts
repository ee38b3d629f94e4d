/** Remote calls over a real queue and a real state table. */
import { ScanCommand } from "@aws-sdk/lib-dynamodb";
import { expect, it, onTestFinished } from "vitest";
import { createUrlGuard } from "../../../shared/access/url-guard.ts";
import { answerHarvestRequest } from "../../../shared/harvest/answer-request.ts";
import { createQueueSender } from "../../../shared/platform/aws/queues.ts";
import {
  answerRemoteCall,
  createRemoteCaller,
  type RemoteCall,
  remoteCallSchema,
} from "../../../shared/platform/aws/remote-call.ts";
import { systemClock } from "../../../shared/platform/clock.ts";
import { ApiError } from "../../../shared/platform/errors.ts";
import { createLogger } from "../../../shared/platform/observability/log.ts";
import { testAws } from "../../services/index.ts";
import { providerDouble, RESULTS } from "../../services/provider-doubles.ts";

async function office() {
  const aws = await testAws();
  const queues = createQueueSender(aws.sqs, aws.queueUrlPrefix);
  const { ask } = createRemoteCaller({ queues, dynamo: aws.dynamo, clock: systemClock }, aws.stateTable);
  const received = async (): Promise<RemoteCall> => remoteCallSchema.parse((await aws.receive("harvest", 20))[0]);
  const run = (request: RemoteCall, work: Parameters<typeof answerRemoteCall>[3]) =>
    answerRemoteCall({ dynamo: aws.dynamo, clock: systemClock }, aws.stateTable, request, work, { once: true });
  return { aws, ask, received, run };
}

it("an answer that no item can hold is a fault that is told, and the work is done once", async () => {
  const { ask, received, run } = await office();
  const answer = ask("harvest", { n: 1 }, 60_000);
  answer.catch(() => undefined);
  await run(await received(), async () => "ü".repeat(200_000));
  await expect(answer).rejects.toMatchObject({ status: 502, code: "REMOTE_ANSWER_TOO_LARGE" });
});

it("a fault arrives with its headers", async () => {
  const { ask, received, run } = await office();
  const answer = ask("harvest", { n: 1 }, 60_000);
  answer.catch(() => undefined);
  await run(await received(), async () => {
    throw new ApiError(503, "busy", { code: "HOST_BUSY", headers: { "retry-after": "3" } });
  });
  await expect(answer).rejects.toMatchObject({ status: 503, code: "HOST_BUSY", headers: { "retry-after": "3" } });
});

it("an answer of almost that size arrives", async () => {
  const { ask, received, run } = await office();
  const answer = ask("harvest", { n: 1 }, 60_000);
  await run(await received(), async () => "ü".repeat(190_000));
  expect(await answer).toBe("ü".repeat(190_000));
});

it("a remote call that is delivered after its deadline is not done", async () => {
  const { received, run, aws } = await office();
  const queues = createQueueSender(aws.sqs, aws.queueUrlPrefix);
  const late = { callId: "0193b5c0-6f3e-7a52-9c1f-3d0e6f2b8a11", deadline: Date.now() - 1, request: {} };
  await queues.send("harvest", late satisfies RemoteCall);
  let done = 0;
  await run(await received(), async () => {
    done += 1;
  });
  expect(done).toBe(0);
});

it("a remote call that is delivered several times is done once", async () => {
  const { ask, received, run } = await office();
  const answer = ask("harvest", {}, 60_000);
  const request = await received();
  let done = 0;
  const work = async () => {
    done += 1;
    return done;
  };
  await Promise.all([run(request, work), run(request, work), run(request, work)]);
  await run(request, work);
  expect([await answer, done]).toEqual([1, 1]);
});

it("work learns that whoever asked has left, who waits no longer", async () => {
  const { ask, received, run } = await office();
  const client = new AbortController();
  const answer = ask("harvest", {}, 60_000, client.signal);
  const outcome = expect(answer).rejects.toThrow("has left");
  await run(await received(), async (_request, _remaining, isGone) => {
    expect(await isGone()).toBe(false);
    client.abort(new Error("The client has left"));
    await outcome;
    expect(await isGone()).toBe(true);
    return null;
  });
});

it("work that is done once is not lost by a table that throttles, or whose answer is lost", async () => {
  const { aws, ask, received } = await office();
  const puts = { begun: 0, answer: 0 };
  let looks = 0;
  const throttled = () =>
    Object.assign(new Error("too fast"), { name: "ProvisionedThroughputExceededException", $metadata: {} });
  aws.dynamo.middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        if (commandName === "GetItemCommand" && ++looks <= 2) throw throttled();
        if (commandName !== "PutItemCommand") return await next(args);
        const kind = JSON.stringify(args.input).includes("#begun") ? "begun" : "answer";
        puts[kind] += 1;
        if (puts[kind] > 1) return await next(args);
        if (kind === "begun") await next(args);
        throw throttled();
      },
    { step: "initialize", name: "faults" },
  );
  const answer = ask("harvest", {}, 60_000);
  answer.catch(() => undefined);
  const request = await received();
  let done = 0;
  await answerRemoteCall(
    { dynamo: aws.dynamo, clock: systemClock },
    aws.stateTable,
    request,
    async () => {
      done += 1;
      return "found";
    },
    { once: true },
  );
  expect([await answer, done, puts.answer]).toEqual(["found", 1, 2]);
});

it("a refusal is an answer, with its code and its reason", async () => {
  const { ask, received, run } = await office();
  const answer = ask("harvest", {}, 60_000);
  answer.catch(() => undefined);
  await run(await received(), async () => {
    throw new ApiError(502, "LLM call failed", { code: "LLM_FAILED", details: { text: "timeout after 5s" } });
  });
  await expect(answer).rejects.toMatchObject({
    status: 502,
    code: "LLM_FAILED",
    details: { text: "timeout after 5s" },
  });
});

it("keys go to providers, and into no message and no item", async () => {
  const { aws, ask, received, run } = await office();
  const google = await providerDouble(() => RESULTS.google("https://a.example/"));
  const serper = await providerDouble(() => ({ status: 403, body: { message: "unknown key secret-of-K1" } }));
  const client = createUrlGuard({ allowHosts: ["127.0.0.1"] }).dispatcher();
  onTestFinished(async () => {
    google.close();
    serper.close();
    await client.destroy();
  });
  const provider = { engineIdEnv: null, apiKeyEnv: "K1" };
  const answer = ask(
    "harvest",
    {
      kind: "search",
      query: { keywords: ["a"], boolean: "AND", filters: {} },
      providers: [
        { ...provider, name: "google", endpoint: google.url },
        { ...provider, name: "serper", endpoint: serper.url },
      ],
      want: 10,
      deadline: Date.now() + 60_000,
      timeoutMs: 30_000,
    },
    60_000,
  );
  const request = await received();
  const lines: string[] = [];
  const log = createLogger({}, "debug", (line) => lines.push(line));
  const tools = {
    client,
    clock: systemClock,
    random: Math.random,
    log,
    key: async (name: string) => `secret-of-${name}`,
  };
  await run(request, (request, remainingMs) => answerHarvestRequest(tools, request, remainingMs));
  expect(await answer).toMatchObject({ runs: [{ urls: ["https://a.example/"] }, { error: "403" }] });
  expect(google.asked[0]?.url.searchParams.get("key")).toBe("secret-of-K1");
  const { Items } = await aws.dynamo.send(new ScanCommand({ TableName: aws.stateTable }));
  expect(JSON.stringify([request, Items, lines])).not.toContain("secret-of");
});

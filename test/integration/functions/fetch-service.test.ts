/** Fetch as a service, in a process of its own, ended while it works. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { capturesMessageSchema, readCaptureBatch } from "../../../shared/capture/capture-batch.ts";
import { taskNoteSchema } from "../../../shared/crawl/tasks/task-note.ts";
import { createObjectStore } from "../../../shared/platform/aws/objects.ts";
import { type TestAws, testAws } from "../../services/index.ts";
import { pageGraph } from "../../sites/page-graph.ts";
import { startSite } from "../../sites/site.ts";
import { fetchTask } from "../crawl/fetch/harness.ts";

const ENTRY = join(import.meta.dirname, "../../../functions/fetch/service.ts");
/** More than a task asks for at once: what has begun is finished after the signal. */
const PAGES = 16;

function startService({ env }: TestAws): ChildProcess {
  const service = spawn(process.execPath, ["--no-warnings", ENTRY], {
    env: { ...process.env, ...env, NODE_OPTIONS: "", ACCESS__ALLOW_HOSTS: "127.0.0.1", LOG_LEVEL: "error" },
    stdio: ["ignore", "inherit", "inherit"],
  });
  onTestFinished(() => void service.kill("SIGKILL"));
  return service;
}

async function end(service: ChildProcess): Promise<unknown> {
  const ended = once(service, "exit");
  service.kill("SIGTERM");
  const [code] = await ended;
  return code;
}

it("takes tasks of the queues, and leaves what it has not finished to the next", async () => {
  const aws = await testAws();
  const objects = createObjectStore(aws.s3, aws.bucket);
  const held = Promise.withResolvers<void>();
  await using site = await startSite({
    ...pageGraph({ pages: PAGES, linksPerPage: 2, pageBytes: 500 }),
    "/page/2": { after: held.promise, body: "held" },
  });
  const urls = Array.from({ length: PAGES }, (_, page) => `${site.origin}/page/${page}`);
  const captured: string[] = [];
  const take = async (): Promise<number> => {
    for (const message of await aws.receive("captures")) {
      if (taskNoteSchema.safeParse(message).success) continue;
      const captures = await readCaptureBatch(objects, capturesMessageSchema.parse(message).batchKey);
      captured.push(...captures.map(({ url }) => url));
    }
    return captured.length;
  };
  // slowly, so that there is a middle
  await aws.queues.send("fetch-normal", fetchTask({ urls, config: { rate_limit_rps: 2 } }));

  const first = startService(aws);
  await expect.poll(() => site.paths(), { timeout: 60_000 }).toContain("/page/2");
  const ended = end(first);
  held.resolve();
  expect(await ended).toBe(0);
  await take();
  expect(captured).toContain(urls[2]);
  expect(captured.length).toBeLessThan(PAGES);
  expect(await aws.messagesIn("fetch-normal")).toBe(1);

  const second = startService(aws);
  await expect.poll(take, { timeout: 60_000 }).toBe(PAGES);
  expect(await end(second)).toBe(0);
  expect(captured.toSorted()).toEqual(urls.toSorted());
  expect(site.paths().toSorted()).toEqual(urls.map((url) => new URL(url).pathname).toSorted());
  expect(await aws.messagesIn("fetch-normal")).toBe(0);
}, 240_000);

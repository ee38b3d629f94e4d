import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { SQSEvent } from "aws-lambda";
import { expect, test, vi } from "vitest";
import { z } from "zod";
import { TOPOLOGY } from "../../../infra/topology.ts";

interface Consumer {
  schema: z.ZodType;
  body?: "json" | "text";
}

const made = vi.hoisted((): Consumer[] => []);

vi.mock("../../../functions/adapters/queue/consumer.ts", () => ({
  createQueueHandler: (_dependencies: unknown, consumer: Consumer) => made.push(consumer),
}));

const ROOT = join(import.meta.dirname, "../../..");
const consumers = TOPOLOGY.functions.filter(({ queues }) => queues !== undefined).map(({ name }) => name);

test.each(consumers)("%s takes each message of its sample event", async (name) => {
  made.length = 0;
  await import(join(ROOT, "functions", name, "handler.ts"));
  expect(made).toHaveLength(1);
  const [{ schema, body: kind }] = made as [Consumer];
  const { Records } = JSON.parse(readFileSync(join(ROOT, "events", `${name}.json`), "utf8")) as SQSEvent;
  expect(Records).not.toEqual([]);
  for (const { body } of Records) {
    const read = schema.safeParse(kind === "text" ? body : JSON.parse(body));
    expect(read.error && z.prettifyError(read.error)).toBeUndefined();
  }
});

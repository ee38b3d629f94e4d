import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { APIGatewayProxyEvent, SQSEvent } from "aws-lambda";
import { expect, test } from "vitest";
import { TOPOLOGY } from "../../../infra/topology.ts";
import { compileRoutes } from "../../../local/gateway/http-routes.ts";

const directory = join(import.meta.dirname, "../../../events");
const read = (name: string) => JSON.parse(readFileSync(join(directory, `${name}.json`), "utf8")) as unknown;
const named = new Set(readdirSync(directory).map((file) => file.replace(/\.json$/, "")));

test("every function has a sample event, and every sample event has its function", () => {
  expect(named).toEqual(new Set(TOPOLOGY.functions.map(({ name }) => name)));
});

test("a sample request is for a route of its function", () => {
  const match = compileRoutes(TOPOLOGY);
  for (const { name } of TOPOLOGY.functions.filter(({ routes }) => routes !== undefined)) {
    const { httpMethod, path } = read(name) as APIGatewayProxyEvent;
    expect(match(httpMethod, path)).toMatchObject({ spec: { name } });
  }
});

test("a sample message is from a queue of its function", () => {
  for (const { name, queues } of TOPOLOGY.functions) {
    if (queues === undefined) continue;
    const [record] = (read(name) as SQSEvent).Records;
    expect(queues.map(({ queue }) => queue)).toContain(record?.eventSourceARN.split(":").at(-1));
  }
});

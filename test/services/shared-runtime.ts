/**
 * The runtime that most files of the e2e project share: it starts when the first of them asks for it, and stops after
 * the last one. Their sites have ports of their own, so that the runtime knows each as another host. Whatever counts
 * over all hosts, or kills or misconfigures a runtime, needs one of its own.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inject } from "vitest";
import type { TestProject } from "vitest/node";
import { USED_PORTS } from "../sites/fresh-port.ts";
import { connectInstance, type Instance, type RunningInstance, startInstance } from "./instance.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Answers with the state folder of the shared runtime, once it runs. */
    sharedRuntime: string;
  }
}

/** Requests a second to a host where a job names no rate. */
export const DEFAULT_RPS = 2;

const ENV = {
  EMBEDDER__PROVIDER: "none",
  ACCESS__ALLOW_HOSTS: "127.0.0.1",
  RATE_LIMIT__API_RPM: "100000",
  RATE_LIMIT__DEFAULT_RPS: String(DEFAULT_RPS),
  // some sites hold their answers
  FETCH__HEADERS_TIMEOUT_MS: "200000",
};

/** For a test file; whoever asks does not stop it. */
export async function sharedRuntime(): Promise<RunningInstance> {
  const response = await fetch(inject("sharedRuntime"));
  const text = await response.text();
  if (!response.ok) throw new Error(`the shared runtime did not start: ${text}`);
  return await connectInstance(text);
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const usedPorts = await mkdtemp(join(tmpdir(), "strandline ports "));
  // the workers of the tests inherit it
  process.env[USED_PORTS] = usedPorts;
  let starting: Promise<Instance> | undefined;
  const server = createServer((_request, response) => {
    starting ??= startInstance({ env: ENV });
    starting.then(
      ({ home }) => response.end(home),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  project.provide("sharedRuntime", `http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  return async () => {
    server.closeAllConnections();
    server.close();
    await starting?.then((instance) => instance.stop());
    await rm(usedPorts, { recursive: true, force: true });
  };
}

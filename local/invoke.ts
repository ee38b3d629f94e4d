/**
 * `npm run invoke -- FUNCTION events/x.json`: gives one handler one event, with the services of the runtime that runs
 * here, or of one that is started for it. `<api-key>` in the event stands for the local admin key. Prints the answer.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { TOPOLOGY } from "../infra/topology.ts";
import { readCredentials } from "./home.ts";
import { Container } from "./lambda/container.ts";
import type { StreamSink } from "./lambda/invocation.ts";
import { environmentOf, trustOf } from "./lambda/trust.ts";
import { openServices } from "./open-services.ts";

const home = process.env["STRANDLINE_HOME"] || ".strandline";
const [functionName, file] = process.argv.slice(2);
const spec = TOPOLOGY.functions.find(({ name }) => name === functionName);
if (spec === undefined || file === undefined) {
  const names = TOPOLOGY.functions.map(({ name }) => name).join(", ");
  process.stderr.write(`Usage: npm run invoke -- FUNCTION EVENT.json\nFUNCTION is one of: ${names}\n`);
  process.exit(2);
}

/** A streamed answer goes straight to the terminal, or wherever that is redirected. */
function streamToTerminal(): StreamSink {
  return {
    closed: new AbortController().signal,
    head: ({ statusCode, headers }) => process.stderr.write(`${statusCode} ${JSON.stringify(headers)}\n`),
    write: (bytes) => new Promise((resolve) => process.stdout.write(bytes, () => resolve())),
  };
}

const { env, stop } = await openServices(home);
try {
  const text = (await readFile(file, "utf8")).replaceAll("<api-key>", readCredentials(home)?.api_key ?? "");
  const container = new Container({
    name: spec.name,
    memoryMb: spec.memoryMb,
    env: environmentOf(trustOf(spec), env),
    onLine: (_name, line) => process.stderr.write(`${line}\n`),
  });
  const handler = join(import.meta.dirname, "..", "functions", spec.name, "handler.ts");
  const answer = await container.invoke({ spec, handler }, JSON.parse(text), streamToTerminal());
  await container.stop();
  if (answer !== undefined) process.stdout.write(`${JSON.stringify(answer, null, 2)}\n`);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
} finally {
  await stop();
}

/**
 * `npm start`: the whole system on this machine. `PORT` (8787) is the API's, `REPLAY_PORT` (8788) that of replay,
 * `STRANDLINE_HOME` (`.strandline`) is where state lives; every other setting is the configuration's own.
 */
import { TOPOLOGY } from "../infra/topology.ts";
import { AlreadyRunning } from "./home.ts";
import { type Runtime, startRuntime } from "./runtime.ts";
import { usageTable } from "./usage/usage-table.ts";

const DEFAULT_PORT = 8787;
const DEFAULT_REPLAY_PORT = 8788;
const LONGEST_STOP_MS = 4_900;

const print = (text: string): void => void process.stdout.write(`${text}\n`);
const complain = (text: string): void => void process.stderr.write(`${text}\n`);

// whoever read along is gone, with the terminal: the logs stay in their file
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);

let runtime: Runtime | undefined;
let interrupted = false;

function interrupt(): void {
  // the second time they mean it; Postgres ends by itself once we are gone
  if (interrupted) process.exit(130);
  interrupted = true;
  if (runtime === undefined) process.exit(130);
  print("\nStopping (once more forces it) …");
  setTimeout(() => {
    complain("It took too long and is cut off: nothing is lost, the next start goes on from here");
    process.exit(1);
  }, LONGEST_STOP_MS).unref();
  runtime.stop().then(
    () => {
      print(usageTable(runtime?.usage()));
      process.exit(0);
    },
    (error: unknown) => {
      complain(`It did not stop cleanly: ${describe(error)}`);
      process.exit(1);
    },
  );
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function readPort(name: string, fallback: number): number {
  const text = process.env[name] ?? "";
  if (text === "") return fallback;
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new Error(`${name} must be a number from 0 to 65535, and is "${text}"`);
}

/** An argument that was ignored would leave whoever gave it with another system than they asked for. */
function refuseArguments([argument]: string[]): void {
  if (argument === undefined) return;
  const usage =
    "Usage: npm start   (settings are environment variables, as in `PORT=9000 npm " +
    "start`; all of them: docs/guide/configuration.md)";
  if (argument === "--help" || argument === "-h") {
    print(usage);
    process.exit(0);
  }
  complain(`npm start takes no arguments, and was given "${argument}"\n${usage}`);
  process.exit(2);
}

refuseArguments(process.argv.slice(2));
process.on("SIGINT", interrupt);
process.on("SIGTERM", interrupt);
const since = performance.now();
const home = process.env["STRANDLINE_HOME"] || ".strandline";
try {
  const port = readPort("PORT", DEFAULT_PORT);
  // who has chosen another port has another instance beside this one
  const replayPort = readPort("REPLAY_PORT", port === DEFAULT_PORT ? DEFAULT_REPLAY_PORT : 0);
  try {
    runtime = await startRuntime({
      topology: TOPOLOGY,
      home,
      port,
      replayPort,
      deliverTwice: process.env["STRANDLINE_DELIVER_TWICE"] === "1",
      show: print,
    });
  } catch (error) {
    const { code, port: taken } = error as NodeJS.ErrnoException & { port?: number };
    if (code !== "EADDRINUSE") throw error;
    const setting = taken === replayPort ? "REPLAY_PORT" : "PORT";
    throw new Error(
      `Port ${taken} is in use by another program: set ${setting} to another one, or to 0 for any that is free`,
    );
  }
  print(banner(runtime));
} catch (error) {
  complain(error instanceof AlreadyRunning ? error.message : `Strandline did not start: ${describe(error)}`);
  process.exit(1);
}

function banner({ addresses, apiKey, apiKeyIsNew }: Runtime): string {
  const key = apiKeyIsNew ? `${apiKey}  (shown once; kept in ${home}/credentials.json)` : `in ${home}/credentials.json`;
  return [
    `Strandline runs, started in ${((performance.now() - since) / 1000).toFixed(1)} s. Ctrl-C stops it.`,
    `  Console     ${addresses.api}/console/`,
    `  API         ${addresses.api}`,
    `  Replay      ${addresses.replay ?? "none"}/TIME/URL`,
    `  API key     ${apiKey === undefined ? "none" : key}`,
    `  S3          ${addresses.s3}  (path-style)`,
    `  SQS         ${addresses.sqs}`,
    `  DynamoDB    ${addresses.dynamodb}`,
    `  Scheduler   ${addresses.scheduler}`,
    `  Postgres    ${addresses.postgres ?? "none"}`,
    `  Logs        ${home}/logs/handlers.jsonl  (warnings and errors also below)`,
    `  Usage       ${addresses.api}/_local/usage`,
  ].join("\n");
}

/**
 * Loaded by Node before a runtime (`--import`): makes what is around its functions fail as a cloud does. Services
 * answer 503 or not at all, functions are killed or run out of their time, messages come twice and in another order,
 * and the clock jumps. Which of it happens how often is read from the file that `FAULTS_FILE` names; what happened is
 * written beside it, by process.
 */
import { randomUUID } from "node:crypto";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { type IncomingMessage, Server, type ServerResponse } from "node:http";
import { syncBuiltinESMExports } from "node:module";
import { basename, dirname, join } from "node:path";
import workerThreads, {
  getEnvironmentData,
  isMainThread,
  setEnvironmentData,
  type WorkerOptions,
} from "node:worker_threads";
import { SqsQueue } from "../../node_modules/fauxqs/dist/sqs/sqsStore.js";

/** Shares of what there is of each, 0 to 1. */
export interface FaultRates {
  s3: number;
  sqs: number;
  dynamodb: number;
  kill: number;
  timeout: number;
  duplicate: number;
  reorder: number;
}

export interface FaultPlan {
  rates: FaultRates;
  /** How far the clock of all that runs in Node is ahead. */
  clockMs: number;
}

const CLOCK = "fault clock";
const READ_MS = 200;
/** A function is killed, or told that its time is over, so soon after its event came. */
const LATEST_BLOW_MS = 1_500;
const LATEST_DUPLICATE_MS = 4_000;
const SERVICE = /(?:%2F|\/)(s3|sqs|dynamodb)(?:%2F|\/)aws4_request/;

if (!isMainThread) moveClock(getEnvironmentData(CLOCK) as Float64Array);
// the processes that a runtime starts inherit the environment
else if (process.env["FAULTS_FILE"] && /local\/start\.[jt]s$/.test(process.argv[1] ?? ""))
  injectFaults(process.env["FAULTS_FILE"]);

/** Who reads it, or kills this process, finds all of it or what was there before. */
function writeWhole(file: string, text: string): void {
  const beside = join(dirname(file), `.${basename(file)}`);
  writeFileSync(beside, text);
  renameSync(beside, file);
}

function injectFaults(file: string): void {
  const clock = new Float64Array(new SharedArrayBuffer(8));
  setEnvironmentData(CLOCK, clock);
  moveClock(clock);
  const counts: Record<string, number> = {};
  let plan: FaultPlan | undefined;
  let written = "";
  const timer = setInterval(() => {
    plan = JSON.parse(readFileSync(file, "utf8")) as FaultPlan;
    clock[0] = plan.clockMs;
    const now = JSON.stringify(counts);
    if (now !== written) writeWhole(`${file}.${process.pid}`, now);
    written = now;
  }, READ_MS);
  timer.unref();
  const strikes = (fault: keyof FaultRates): boolean => {
    if (!(Math.random() < (plan?.rates[fault] ?? 0))) return false;
    counts[fault] = (counts[fault] ?? 0) + 1;
    return true;
  };
  failServices(strikes);
  strikeFunctions(strikes);
  disturbQueues(strikes);
}

function moveClock(offset: Float64Array): void {
  const realNow = Date.now;
  Date.now = () => realNow() + Math.round(offset[0] ?? 0);
  globalThis.Date = new Proxy(Date, {
    construct: (target, args, newTarget) =>
      Reflect.construct(target, args.length === 0 ? [Date.now()] : args, newTarget),
  });
}

type Strikes = (fault: keyof FaultRates) => boolean;

/** Half of the calls are refused before anything is done, and half are done and their answers lost. */
function failServices(strikes: Strikes): void {
  const emit = Server.prototype.emit;
  Server.prototype.emit = function (this: Server, event: string, ...args: unknown[]): boolean {
    if (event === "request") {
      const [request, response] = args as [IncomingMessage, ServerResponse];
      const service = SERVICE.exec(`${request.headers.authorization ?? ""} ${request.url ?? ""}`)?.[1];
      if (service !== undefined && strikes(service as "s3" | "sqs" | "dynamodb")) {
        if (Math.random() < 0.5) {
          request.resume();
          refuse(response, service);
          return true;
        }
        response.end = () => response.destroy();
      }
    }
    return Reflect.apply(emit, this, [event, ...args]);
  };
}

/** As each protocol has it. */
function refuse(response: ServerResponse, service: string): void {
  if (service === "s3") {
    response.writeHead(503, { "content-type": "application/xml" });
    response.end("<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>");
    return;
  }
  response.writeHead(503, { "content-type": "application/x-amz-json-1.0" });
  response.end('{"__type":"ServiceUnavailable","message":"The service is unavailable at the moment."}');
}

/** A function that is killed is a thread that ends; one that runs out of its time is what its container makes of it. */
function strikeFunctions(strikes: Strikes): void {
  const realSetTimeout = globalThis.setTimeout;
  let latest: (() => void) | undefined;
  globalThis.setTimeout = Object.assign((callback: () => void, ...rest: unknown[]) => {
    latest = callback;
    return (realSetTimeout as (...args: unknown[]) => NodeJS.Timeout)(callback, ...rest);
  }, realSetTimeout) as typeof setTimeout;
  const RealWorker = workerThreads.Worker;
  workerThreads.Worker = class extends RealWorker {
    constructor(file: string | URL, options: WorkerOptions = {}) {
      const isContainer = String(file).includes("container-entry");
      const flags = [...(options.execArgv ?? []), "--no-warnings=ExperimentalWarning", "--import", import.meta.url];
      super(file, isContainer ? { ...options, execArgv: flags } : options);
    }

    override postMessage(
      message: unknown,
      transfer?: Parameters<InstanceType<typeof RealWorker>["postMessage"]>[1],
    ): void {
      const isEvent = (message as { type?: unknown } | null)?.type === "invoke";
      // the container sets the timer of an event's timeout just before it sends it
      const timeOut = latest;
      super.postMessage(message, transfer as []);
      if (!isEvent) return;
      const soon = Math.random() * LATEST_BLOW_MS;
      if (strikes("kill")) realSetTimeout(() => void this.terminate(), soon);
      else if (timeOut !== undefined && strikes("timeout")) realSetTimeout(timeOut, soon);
    }
  } as typeof RealWorker;
  syncBuiltinESMExports();
}

function disturbQueues(strikes: Strikes): void {
  const enqueue = SqsQueue.prototype.enqueue;
  const copies = new WeakSet<object>();
  SqsQueue.prototype.enqueue = function (this: SqsQueue, message): void {
    enqueue.call(this, message);
    const { messages } = this;
    if (messages.length > 1 && strikes("reorder")) {
      const last = messages.pop();
      if (last !== undefined) messages.splice(Math.floor(Math.random() * (messages.length + 1)), 0, last);
    }
    if (copies.has(message) || !strikes("duplicate")) return;
    const copy = { ...message, messageId: randomUUID() };
    copies.add(copy);
    setTimeout(() => this.enqueue(copy), Math.random() * LATEST_DUPLICATE_MS);
  };
}

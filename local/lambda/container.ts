/**
 * A warm container: one worker thread for any function of one trust. It runs one event at a time, or several of a
 * function that mostly waits.
 */
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { EventLoopUtilization } from "node:perf_hooks";
import { type ResourceLimits, Worker } from "node:worker_threads";
import type { FunctionSpec } from "../../infra/topology/spec.ts";
import { readLines } from "../lines.ts";
import {
  type FromWorker,
  type HandlerError,
  InvocationError,
  type InvocationFault,
  type StreamSink,
  type ToWorker,
} from "./invocation.ts";

export interface ContainerOptions {
  /** Name of the thread. */
  name: string;
  /** Of the largest function that it may host. */
  memoryMb: number;
  env: Record<string, string>;
  /** Each line that a handler writes to its standard output or standard error. */
  onLine: (functionName: string, line: string) => void;
}

export interface HostedFunction {
  spec: FunctionSpec;
  /** File of the handler. */
  handler: string;
}

type Outcome = { value: unknown } | { fault: InvocationFault; message: string; cause?: unknown };

interface Running {
  sink: StreamSink | undefined;
  /** Ends the wait for this event; called at most once. */
  settle(outcome: Outcome): void;
}

/** Loading a handler is not part of its timeout, on Lambda neither. */
const LOAD_TIMEOUT_MS = 60_000;
const CLOSE_TIMEOUT_MS = 2_000;
/** Shortest time over which the utilization of a thread is looked at: over less, one page decides. */
export const SAMPLE_MS = 100;

/**
 * What the JavaScript heap may take of a function's memory; buffers and code need the rest. Every thread fills its room
 * for new objects and keeps it (Node's default is 96 MB). Measured over crawls of 1,500 pages: with 24 MB a page costs
 * Node what it costs with 48, with 12 MB a fifth more.
 */
const heapLimits = (memoryMb: number): ResourceLimits => ({
  maxOldGenerationSizeMb: Math.max(256, memoryMb / 2),
  maxYoungGenerationSizeMb: 24,
});

export class Container {
  readonly #worker: Worker;
  readonly #loaded = new Set<string>();
  readonly #loading = new Map<string, PromiseWithResolvers<HandlerError | undefined>>();
  /** By request id. */
  readonly #running = new Map<string, Running>();
  /** Function of the events that run, or ran last. */
  #current = "";
  #events = 0;
  #hasBrowser = false;
  #dead: string | undefined;
  #ending: Promise<void> | undefined;
  #broken = false;
  #utilization = 0;
  #sample: { at: number; loop: EventLoopUtilization } | undefined;

  constructor({ name, memoryMb, env, onLine }: ContainerOptions) {
    this.#worker = new Worker(join(import.meta.dirname, "container-entry.js"), {
      env,
      // none of the flags of whoever started us: a test runner's would load the test runner
      execArgv: ["--no-warnings=ExperimentalWarning"],
      resourceLimits: heapLimits(memoryMb),
      name,
      stdout: true,
      stderr: true,
    });
    for (const output of [this.#worker.stdout, this.#worker.stderr]) {
      readLines(output, (line) => onLine(this.#current, line));
    }
    this.#worker.on("message", (message: FromWorker) => this.#receive(message));
    this.#worker.on("error", (error) => this.#die(error instanceof Error ? error.message : String(error), error));
    this.#worker.on("exit", (code) => this.#die(`the container ended with code ${code}`));
  }

  /** False once the thread is gone or a handler could not be loaded. */
  get usable(): boolean {
    return this.#dead === undefined && !this.#broken;
  }

  /** Whether a function's handler is loaded. */
  hosts(functionName: string): boolean {
    return this.#loaded.has(functionName);
  }

  /** Function of the events that run, or ran last. */
  get functionName(): string {
    return this.#current;
  }

  /** Events that run, or wait for their handler to be loaded. */
  get events(): number {
    return this.#events;
  }

  /** Share of its time for which the thread was busy when that was last measured, 0 to 1. */
  get utilization(): number {
    return this.#utilization;
  }

  /**
   * Measures the utilization since the last time.
   * @returns false where that is less than `SAMPLE_MS` ago
   */
  measureUtilization(): boolean {
    const before = this.#sample;
    const at = Date.now();
    if (before !== undefined && at - before.at < SAMPLE_MS) return false;
    const loop = this.#worker.performance.eventLoopUtilization();
    this.#utilization = this.#worker.performance.eventLoopUtilization(loop, before?.loop).utilization;
    this.#sample = { at, loop };
    return true;
  }

  /**
   * Gives a function's handler one event. Those that run at once must all be of one function.
   * @param sink where a streamed answer goes; without one it is an error to stream
   * @returns the handler's answer, or undefined where it was streamed
   * @throws InvocationError; after a timeout or a crash this container is not usable any more
   */
  async invoke(hosted: HostedFunction, event: unknown, sink?: StreamSink): Promise<unknown> {
    this.#current = hosted.spec.name;
    this.#events += 1;
    try {
      return await this.#invoke(hosted, event, sink);
    } finally {
      this.#events -= 1;
    }
  }

  async #invoke({ spec, handler }: HostedFunction, event: unknown, sink?: StreamSink): Promise<unknown> {
    const requestId = randomUUID();
    const about = { functionName: spec.name, requestId };
    if (!this.#loaded.has(spec.name)) {
      const loadError = await this.#load({ spec, handler });
      if (loadError) {
        const { errorType, errorMessage, trace } = loadError;
        throw new InvocationError("error", `${errorType}: ${errorMessage}`, { ...about, cause: trace });
      }
    }
    if (this.#dead !== undefined) throw new InvocationError("crash", this.#dead, about);
    const deadline = Date.now() + spec.timeoutS * 1000;
    const disconnected = () => this.#send({ type: "disconnected", requestId });
    let timer: NodeJS.Timeout | undefined;
    try {
      return await new Promise((resolve, reject) => {
        this.#running.set(requestId, {
          sink,
          settle(outcome) {
            if ("value" in outcome) resolve(outcome.value);
            else reject(new InvocationError(outcome.fault, outcome.message, { ...about, cause: outcome.cause }));
          },
        });
        timer = setTimeout(() => {
          this.#settle(requestId, { fault: "timeout", message: `Task timed out after ${spec.timeoutS} seconds` });
          this.#settleAll({ fault: "crash", message: "Another event of the container took longer than its timeout" });
          void this.stop();
        }, spec.timeoutS * 1000);
        sink?.closed.addEventListener("abort", disconnected);
        this.#send({ type: "invoke", functionName: spec.name, requestId, event, deadline });
        // it may have left while it waited for this container
        if (sink?.closed.aborted) disconnected();
      });
    } finally {
      clearTimeout(timer);
      sink?.closed.removeEventListener("abort", disconnected);
    }
  }

  /** @returns what kept the handler from being loaded; where the thread ended, `dead` says it */
  async #load({ spec, handler: file }: HostedFunction): Promise<HandlerError | undefined> {
    if (this.#dead !== undefined) return undefined;
    const { name: functionName, memoryMb } = spec;
    const underWay = this.#loading.get(functionName);
    if (underWay !== undefined) return await underWay.promise;
    const loading = Promise.withResolvers<HandlerError | undefined>();
    this.#loading.set(functionName, loading);
    const timer = setTimeout(() => {
      void this.stop(`the handler was not loaded within ${LOAD_TIMEOUT_MS / 1000} s`);
    }, LOAD_TIMEOUT_MS);
    this.#send({ type: "load", functionName, file, memoryMb });
    const error = await loading.promise;
    clearTimeout(timer);
    this.#loading.delete(functionName);
    if (error !== undefined) this.#broken = true;
    else if (this.#dead === undefined) {
      this.#loaded.add(functionName);
      this.#hasBrowser ||= spec.browser === true;
    }
    return error;
  }

  /** Ends the thread, and with it what it is doing. */
  async stop(reason = "the container was stopped"): Promise<void> {
    this.#dead ??= reason;
    this.#settleAll({ fault: "stopped", message: "The runtime stopped" });
    // each of many events may ask for it
    this.#ending ??= this.#end();
    await this.#ending;
  }

  async #end(): Promise<void> {
    // a browser ends with its thread in any case, but as a zombie of this process
    if (this.#hasBrowser) await this.#closeDown();
    await this.#worker.terminate();
  }

  async #closeDown(): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      this.#worker.on("message", (message: FromWorker) => message.type === "closed" && resolve());
      this.#worker.once("exit", () => resolve());
      setTimeout(resolve, CLOSE_TIMEOUT_MS).unref();
    });
    this.#worker.postMessage({ type: "close" } satisfies ToWorker);
    await closed;
  }

  #send(message: ToWorker): void {
    try {
      this.#worker.postMessage(message);
    } catch (cause) {
      if (message.type !== "invoke") throw cause;
      // an event that cannot be copied between threads is the caller's fault, and no reason to wait
      const outcome = { fault: "error", message: "The event cannot be passed to a container", cause } as const;
      this.#settle(message.requestId, outcome);
    }
  }

  #receive(message: FromWorker): void {
    switch (message.type) {
      case "closed":
        return;
      case "loaded":
        this.#loading.get(message.functionName)?.resolve(message.error);
        return;
      case "answer":
        this.#settle(message.requestId, { value: message.value });
        return;
      case "failed": {
        const { errorType, errorMessage, trace } = message.error;
        this.#settle(message.requestId, { fault: "error", message: `${errorType}: ${errorMessage}`, cause: trace });
        return;
      }
      case "head":
        this.#running.get(message.requestId)?.sink?.head(message.head);
        return;
      case "chunk":
        void this.#forward(message.requestId, message.bytes);
        return;
      case "end":
        this.#settle(message.requestId, { value: undefined });
    }
  }

  async #forward(requestId: string, bytes: Uint8Array): Promise<void> {
    const running = this.#running.get(requestId);
    if (running === undefined) return;
    const { sink } = running;
    if (sink === undefined) {
      this.#settle(requestId, {
        fault: "error",
        message: "The handler streams its answer, and this trigger cannot take a stream",
      });
      await this.stop();
      return;
    }
    await sink.write(bytes);
    this.#send({ type: sink.closed.aborted ? "disconnected" : "drained", requestId });
  }

  #settle(requestId: string, outcome: Outcome): void {
    const running = this.#running.get(requestId);
    this.#running.delete(requestId);
    running?.settle(outcome);
  }

  /** What runs, and what waits for a handler. */
  #settleAll(outcome: Outcome): void {
    for (const requestId of [...this.#running.keys()]) this.#settle(requestId, outcome);
    for (const loading of this.#loading.values()) loading.resolve(undefined);
  }

  #die(reason: string, cause?: unknown): void {
    this.#dead ??= reason;
    this.#settleAll({ fault: "crash", message: reason, cause });
  }
}

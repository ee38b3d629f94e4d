/** A warm container: one worker thread that handles one event at a time, of any function of one trust. */
import { randomUUID } from "node:crypto";
import { join } from "node:path";
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
  settle(outcome: Outcome): void;
}

/** Loading a handler is not part of its timeout, on Lambda neither. */
const LOAD_TIMEOUT_MS = 60_000;
const CLOSE_TIMEOUT_MS = 2_000;

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
  #current = "";
  #hasBrowser = false;
  #running: Running | undefined;
  #dead: string | undefined;
  #broken = false;
  #onLoaded: ((error?: HandlerError) => void) | undefined;

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

  /**
   * Gives a function's handler one event. Only one may run at a time.
   * @param sink where a streamed answer goes; without one it is an error to stream
   * @returns the handler's answer, or undefined where it was streamed
   * @throws InvocationError; after a timeout or a crash this container is not usable any more
   */
  async invoke({ spec, handler }: HostedFunction, event: unknown, sink?: StreamSink): Promise<unknown> {
    const requestId = randomUUID();
    const about = { functionName: spec.name, requestId };
    this.#current = spec.name;
    if (!this.#loaded.has(spec.name)) {
      const loadError = await this.#load({ spec, handler });
      if (loadError) {
        const { errorType, errorMessage, trace } = loadError;
        throw new InvocationError("error", `${errorType}: ${errorMessage}`, { ...about, cause: trace });
      }
    }
    if (this.#dead !== undefined) throw new InvocationError("crash", this.#dead, about);
    const deadline = Date.now() + spec.timeoutS * 1000;
    const disconnected = () => this.#send({ type: "disconnected" });
    let timer: NodeJS.Timeout | undefined;
    try {
      return await new Promise((resolve, reject) => {
        this.#running = {
          sink,
          settle(outcome) {
            if ("value" in outcome) resolve(outcome.value);
            else reject(new InvocationError(outcome.fault, outcome.message, { ...about, cause: outcome.cause }));
          },
        };
        timer = setTimeout(() => {
          this.#settle({ fault: "timeout", message: `Task timed out after ${spec.timeoutS} seconds` });
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
    let timer: NodeJS.Timeout | undefined;
    const error = await new Promise<HandlerError | undefined>((resolve) => {
      this.#onLoaded = resolve;
      timer = setTimeout(() => {
        void this.stop(`the handler was not loaded within ${LOAD_TIMEOUT_MS / 1000} s`);
      }, LOAD_TIMEOUT_MS);
      this.#send({ type: "load", functionName, file, memoryMb });
    });
    clearTimeout(timer);
    this.#onLoaded = undefined;
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
    this.#settle({ fault: "stopped", message: "The runtime stopped" });
    this.#onLoaded?.();
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
      // an event that cannot be copied between threads is the caller's fault, and no reason to wait
      this.#settle({ fault: "error", message: "The event cannot be passed to a container", cause });
    }
  }

  #receive(message: FromWorker): void {
    switch (message.type) {
      case "closed":
        return;
      case "loaded":
        this.#onLoaded?.(message.error);
        return;
      case "answer":
        this.#settle({ value: message.value });
        return;
      case "failed": {
        const { errorType, errorMessage, trace } = message.error;
        this.#settle({ fault: "error", message: `${errorType}: ${errorMessage}`, cause: trace });
        return;
      }
      case "head":
        this.#running?.sink?.head(message.head);
        return;
      case "chunk":
        void this.#forward(message.bytes);
        return;
      case "end":
        this.#settle({ value: undefined });
    }
  }

  async #forward(bytes: Uint8Array): Promise<void> {
    const sink = this.#running?.sink;
    if (sink === undefined) {
      this.#settle({
        fault: "error",
        message: "The handler streams its answer, and this trigger cannot take a stream",
      });
      await this.stop();
      return;
    }
    await sink.write(bytes);
    this.#send({ type: sink.closed.aborted ? "disconnected" : "drained" });
  }

  #settle(outcome: Outcome): void {
    const running = this.#running;
    this.#running = undefined;
    running?.settle(outcome);
  }

  #die(reason: string, cause?: unknown): void {
    this.#dead ??= reason;
    this.#settle({ fault: "crash", message: reason, cause });
    this.#onLoaded?.();
  }
}

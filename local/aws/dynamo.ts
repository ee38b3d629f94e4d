/**
 * DynamoDB by `dynalite`, in a thread of its own behind a front of ours: some requests end it by an error that nobody
 * can catch. Then it starts anew, and nothing else is lost.
 */
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import {
  errorAnswer,
  type ServiceAnswer,
  type ServiceCall,
  type ServiceFront,
  startServiceFront,
} from "../front/service-front.ts";
import type { SignatureCheck } from "../front/signature.ts";

export interface DynamoOptions {
  /** Of its LevelDB store; in memory, and empty after a crash of it, where it is not given. */
  directory: string | undefined;
  port: number;
  signatures: SignatureCheck;
  /** Told of each call, by its operation and the size of its request. */
  onCall(operation: string, bytes: number): void;
}

export interface DynamoRequest {
  id: number;
  headers: Record<string, string>;
  body: string;
}

export type DynamoReply = { ready: true } | ({ id: number } & ServiceAnswer);

/** DynamoDB's own limit of a request. */
const LARGEST_REQUEST_BYTES = 16 * 1024 * 1024;
/** What the emulator makes its answer of. */
const HEADERS = ["x-amz-target", "content-type", "authorization", "x-amz-date"];
/** Between the starts of one that ends at once. */
const RESTART_MS = 500;

export async function startDynamo({ directory, port, signatures, onCall }: DynamoOptions): Promise<ServiceFront> {
  const thread = new DynamoThread(directory);
  try {
    await thread.started;
    const front = await startServiceFront({
      port,
      service: "dynamodb",
      signatures,
      largestBodyBytes: LARGEST_REQUEST_BYTES,
      async answer(call) {
        onCall(String(call.headers["x-amz-target"] ?? "").split(".")[1] ?? "", call.body.length);
        return await thread.answer(call);
      },
    });
    return {
      ...front,
      async stop() {
        await front.stop();
        await thread.stop();
      },
    };
  } catch (error) {
    await thread.stop();
    throw error;
  }
}

export class DynamoThread {
  readonly #directory: string | undefined;
  readonly #entry: string;
  readonly #open = new Map<number, (answer: ServiceAnswer) => void>();
  #worker: Worker;
  #nextId = 0;
  #stopped = false;
  #start: PromiseWithResolvers<void>;

  /** @param entry first file of the thread */
  constructor(directory: string | undefined, entry = join(import.meta.dirname, "dynamo-entry.js")) {
    this.#directory = directory;
    this.#entry = entry;
    this.#start = Promise.withResolvers();
    this.#worker = this.#launch();
  }

  /** @throws what kept it from its first start */
  get started(): Promise<void> {
    return this.#start.promise;
  }

  async answer({ method, headers, body }: ServiceCall): Promise<ServiceAnswer> {
    if (method !== "POST") return errorAnswer(400, "UnknownOperationException", "DynamoDB takes POST only");
    await this.#start.promise;
    const id = this.#nextId++;
    const kept = HEADERS.map((name) => [name, String(headers[name] ?? "")] as const);
    return await new Promise((resolve) => {
      this.#open.set(id, resolve);
      const request: DynamoRequest = { id, headers: Object.fromEntries(kept), body: body.toString() };
      this.#worker.postMessage(request);
    });
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#worker.terminate();
  }

  #launch(): Worker {
    const worker = new Worker(this.#entry, {
      // none of the flags and settings of whoever started us
      execArgv: ["--no-warnings=ExperimentalWarning"],
      env: {},
      name: "dynamodb",
      workerData: { directory: this.#directory },
      resourceLimits: { maxYoungGenerationSizeMb: 24 },
    });
    const started = performance.now();
    let failure: unknown;
    worker.on("message", (reply: DynamoReply) => {
      if ("ready" in reply) return this.#start.resolve();
      const { id, ...answer } = reply;
      this.#open.get(id)?.(answer);
      this.#open.delete(id);
    });
    worker.on("error", (error) => {
      failure = error;
    });
    worker.once("exit", () => this.#ended(failure, performance.now() - started));
    return worker;
  }

  /** Those who wait are told to try again; those who come wait for the next start. */
  #ended(failure: unknown, ranMs: number): void {
    const why = failure instanceof Error ? failure.message : "it ended";
    // a start that failed is told to whoever waits for it, and the next is tried in any case
    this.#start.reject(new Error(`DynamoDB did not start: ${why}`, { cause: failure }));
    this.#start.promise.catch(() => undefined);
    const answer = errorAnswer(500, "InternalServerError", `The embedded DynamoDB failed on a request: ${why}`);
    for (const resolve of this.#open.values()) resolve(answer);
    this.#open.clear();
    if (this.#stopped) return;
    this.#start = Promise.withResolvers();
    this.#start.promise.catch(() => undefined);
    setTimeout(
      () => {
        if (!this.#stopped) this.#worker = this.#launch();
      },
      Math.max(0, RESTART_MS - ranMs),
    );
  }
}

/**
 * The inside of a container: a worker thread that loads handlers and gives them events, with the context and the
 * `awslambda` global of the Lambda Node runtime.
 */
import { Writable } from "node:stream";
import { pathToFileURL } from "node:url";
import { parentPort } from "node:worker_threads";
import { shutdown } from "../../shared/platform/shutdown.ts";
import type { FromWorker, HandlerError, InvokeMessage, LoadMessage, StreamHead, ToWorker } from "./invocation.ts";

type Context = ReturnType<typeof createContext>;
type BufferedHandler = (event: unknown, context: Context) => unknown;
type StreamingHandler = (event: unknown, stream: Writable, context: Context) => unknown;

const STREAMING = Symbol("streaming handler");
const SET_HEAD = Symbol("set head");
const CHUNK_BYTES = 64 * 1024;

if (parentPort === null) throw new Error("This file is the body of a worker thread");
const port = parentPort;

interface Loaded {
  handler: BufferedHandler | StreamingHandler;
  memoryMb: number;
}

const functions = new Map<string, Loaded>();

const post = (message: FromWorker): void => port.postMessage(message);
/** Streamed answers under way, by request id. */
const streams = new Map<string, AnswerStream>();

/** Bytes on their way to the client: each chunk waits until the one before has left. */
class AnswerStream extends Writable {
  readonly #requestId: string;
  #head: StreamHead = { statusCode: 200, headers: { "content-type": "application/octet-stream" }, cookies: [] };
  #headSent = false;
  #onDrained: (() => void) | undefined;

  constructor(requestId: string) {
    super({ highWaterMark: CHUNK_BYTES });
    this.#requestId = requestId;
  }

  [SET_HEAD](head: Partial<StreamHead>): void {
    this.#head = {
      statusCode: head.statusCode ?? 200,
      headers: head.headers ?? this.#head.headers,
      cookies: head.cookies ?? [],
    };
  }

  /** Lambda's streams have it too. */
  setContentType(type: string): void {
    this.#head.headers = { ...this.#head.headers, "content-type": type };
  }

  drained(): void {
    const resume = this.#onDrained;
    this.#onDrained = undefined;
    resume?.();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error) => void): void {
    this.#sendHead();
    this.#onDrained = done;
    post({ type: "chunk", requestId: this.#requestId, bytes: chunk });
  }

  override _final(done: (error?: Error) => void): void {
    this.#sendHead();
    done();
  }

  #sendHead(): void {
    if (this.#headSent) return;
    this.#headSent = true;
    post({ type: "head", requestId: this.#requestId, head: this.#head });
  }
}

const awslambda = {
  streamifyResponse: (handler: StreamingHandler) => Object.assign(handler, { [STREAMING]: true }),
  HttpResponseStream: {
    from(stream: AnswerStream, head: Partial<StreamHead>): AnswerStream {
      stream[SET_HEAD](head);
      return stream;
    },
  },
};
Object.assign(globalThis, { awslambda });

function createContext({ functionName, requestId, deadline }: InvokeMessage) {
  return {
    callbackWaitsForEmptyEventLoop: false,
    functionName,
    functionVersion: "$LATEST",
    invokedFunctionArn: `arn:aws:lambda:us-east-1:000000000000:function:${functionName}`,
    memoryLimitInMB: String(functions.get(functionName)?.memoryMb),
    awsRequestId: requestId,
    logGroupName: `/aws/lambda/${functionName}`,
    logStreamName: "local",
    getRemainingTimeInMillis: () => Math.max(0, deadline - Date.now()),
  };
}

/** What Lambda sets for each function, in the environment that the functions of a thread share. */
function becomeFunction(name: string, memoryMb: number): void {
  process.env["AWS_LAMBDA_FUNCTION_NAME"] = name;
  process.env["AWS_LAMBDA_FUNCTION_MEMORY_SIZE"] = String(memoryMb);
}

async function run(message: InvokeMessage): Promise<void> {
  const { functionName, requestId } = message;
  try {
    const loaded = functions.get(functionName);
    if (loaded === undefined) throw new Error(`${functionName} is not loaded`);
    const { handler, memoryMb } = loaded;
    becomeFunction(functionName, memoryMb);
    if (STREAMING in handler) await runStreaming(handler as StreamingHandler, message);
    else answer(requestId, await (handler as BufferedHandler)(message.event, createContext(message)));
  } catch (error) {
    post({ type: "failed", requestId, error: describe(error) });
  }
}

/** Lambda passes answers on as JSON: what JSON cannot hold is lost here too. */
function answer(requestId: string, value: unknown): void {
  const isData = value === undefined || value === null || typeof value !== "object";
  post({ type: "answer", requestId, value: isData ? (value ?? null) : JSON.parse(JSON.stringify(value)) });
}

async function runStreaming(handler: StreamingHandler, message: InvokeMessage): Promise<void> {
  const { requestId } = message;
  const stream = new AnswerStream(requestId);
  streams.set(requestId, stream);
  const closed = new Promise<void>((resolve) => stream.once("close", resolve));
  // the handler learns of it by its own pipeline; nobody else is listening
  stream.on("error", () => {});
  try {
    await handler(message.event, stream, createContext(message));
    if (!stream.destroyed) stream.end();
    await closed;
    post({ type: "end", requestId });
  } finally {
    streams.delete(requestId);
    stream.destroy();
  }
}

function describe(error: unknown): HandlerError {
  if (!(error instanceof Error)) return { errorType: typeof error, errorMessage: String(error), trace: "" };
  return { errorType: error.name, errorMessage: error.message, trace: error.stack ?? "" };
}

/** @returns what kept the handler from being loaded */
async function load({ functionName, file, memoryMb }: LoadMessage): Promise<HandlerError | undefined> {
  becomeFunction(functionName, memoryMb);
  try {
    const { handler } = (await import(pathToFileURL(file).href)) as { handler?: unknown };
    if (typeof handler !== "function") {
      return { errorType: "Runtime.HandlerNotFound", errorMessage: `${file} exports no function "handler"`, trace: "" };
    }
    functions.set(functionName, { handler: handler as Loaded["handler"], memoryMb });
    return undefined;
  } catch (error) {
    return describe(error);
  }
}

port.on("message", (message: ToWorker) => {
  switch (message.type) {
    case "load":
      void load(message).then((error) =>
        post({ type: "loaded", functionName: message.functionName, ...(error && { error }) }),
      );
      return;
    case "invoke":
      void run(message);
      return;
    case "drained":
      streams.get(message.requestId)?.drained();
      return;
    case "disconnected":
      streams.get(message.requestId)?.destroy();
      return;
    case "close":
      void shutdown().then(() => post({ type: "closed" }));
  }
});

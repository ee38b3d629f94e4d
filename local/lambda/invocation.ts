/** What the runtime and its worker threads say to each other about one event. */

export interface InvokeMessage {
  type: "invoke";
  functionName: string;
  requestId: string;
  event: unknown;
  /** Unix time in ms at which the function's time is up. */
  deadline: number;
}

export interface LoadMessage {
  type: "load";
  functionName: string;
  /** File of the handler. */
  file: string;
  memoryMb: number;
}

export type ToWorker =
  /** Comes before the first event of a function, and is answered by `loaded`. */
  | LoadMessage
  | InvokeMessage
  /** The client of a streamed answer is ready for more. */
  | { type: "drained"; requestId: string }
  /** It is gone. */
  | { type: "disconnected"; requestId: string }
  /** The thread is about to end: answered by `closed`. */
  | { type: "close" };

export interface StreamHead {
  statusCode: number;
  headers: Record<string, string>;
  cookies: string[];
}

export interface HandlerError {
  errorType: string;
  errorMessage: string;
  trace: string;
}

export type FromWorker =
  /** `error` says why not. */
  | { type: "loaded"; functionName: string; error?: HandlerError }
  | { type: "failed"; requestId: string; error: HandlerError }
  | { type: "answer"; requestId: string; value: unknown }
  | { type: "head"; requestId: string; head: StreamHead }
  /** Answered by `drained` before the next. */
  | { type: "chunk"; requestId: string; bytes: Uint8Array }
  | { type: "end"; requestId: string }
  | { type: "closed" };

/** Where a streamed answer goes. */
export interface StreamSink {
  head(head: StreamHead): void;
  /** Resolves when more may come. */
  write(bytes: Uint8Array): Promise<void>;
  /** Aborts when nobody reads any longer. */
  closed: AbortSignal;
}

export type InvocationFault =
  /** It took longer than its timeout. */
  | "timeout"
  /** The thread ended: an uncaught error, `process.exit`, memory, another event's timeout. */
  | "crash"
  /** The handler threw. */
  | "error"
  /** No container came free in time. */
  | "busy"
  /** The runtime is stopping. */
  | "stopped";

/** An event that was not handled. */
export class InvocationError extends Error {
  readonly fault: InvocationFault;
  readonly functionName: string;
  readonly requestId: string;

  constructor(
    fault: InvocationFault,
    message: string,
    about: { functionName: string; requestId: string; cause?: unknown },
  ) {
    super(message, about.cause === undefined ? undefined : { cause: about.cause });
    this.name = "InvocationError";
    this.fault = fault;
    this.functionName = about.functionName;
    this.requestId = about.requestId;
  }
}

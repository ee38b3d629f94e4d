/** Calls the API on the console's own origin. */
import { currentKey, signOut } from "./session.ts";

/** What the API answered instead of what was asked for, in its own words. */
export class ApiFault extends Error {
  override name = "ApiFault";
  /** 0 where there was no answer at all. */
  readonly status: number;
  readonly code: string;
  readonly requestId: string | undefined;
  /** What is wrong with which field of the request. */
  readonly faults: readonly { path: string; message: string }[];

  constructor(status: number, body: FaultBody) {
    super(body.message ?? body.error ?? `The API answered ${status}`);
    this.status = status;
    this.code = body.code ?? body.error_code ?? `HTTP_${status}`;
    this.requestId = body.request_id;
    this.faults = body.details?.faults ?? [];
  }
}

interface FaultBody {
  error?: string;
  message?: string;
  code?: string;
  error_code?: string;
  request_id?: string;
  details?: { faults?: { path: string; message: string }[] };
}

export interface Call {
  method?: string;
  /** Sent as JSON. */
  body?: unknown;
  signal?: AbortSignal | undefined;
  accept?: string;
  /** Of an event stream that is taken up again. */
  lastEventId?: string | undefined;
  /** In place of the one that the reader has given. */
  key?: string;
}

/**
 * Gives the answer as it comes; a key that is refused is forgotten.
 * @throws ApiFault
 */
export async function request(path: string, options: Call = {}): Promise<Response> {
  const { method, body, signal, accept, lastEventId, key = currentKey() } = options;
  let response: Response;
  try {
    response = await fetch(path, {
      method: method ?? (body === undefined ? "GET" : "POST"),
      headers: {
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(accept === undefined ? {} : { accept }),
        ...(lastEventId === undefined ? {} : { "last-event-id": lastEventId }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
      credentials: "omit",
      cache: "no-store",
      redirect: "error",
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiFault(0, { error: "The API does not answer: is Strandline running?", code: "NO_ANSWER" });
  }
  if (response.ok) return response;
  const fault = new ApiFault(response.status, await faultBody(response));
  if (fault.code === "AUTH_REQUIRED" && options.key === undefined) signOut();
  throw fault;
}

/**
 * Gives the JSON of the answer; undefined where it has no content.
 * @throws ApiFault
 */
export async function call<T>(path: string, options?: Call): Promise<T> {
  const text = await (await request(path, options)).text();
  return (text === "" ? undefined : JSON.parse(text)) as T;
}

/** Puts parameters behind a path; what is undefined or empty is left out. */
export function withQuery(path: string, query: Record<string, string | number | boolean | undefined>): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === "" ? [] : [[name, String(value)]],
  );
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
}

async function faultBody(response: Response): Promise<FaultBody> {
  try {
    return (await response.json()) as FaultBody;
  } catch {
    return {};
  }
}

/** The API of a runtime that is killed now and then: whoever asks meanwhile is told that the answer was cut off. */
import { setTimeout as delay } from "node:timers/promises";
import type { RunningInstance } from "../../services/instance.ts";

const BUSY_MS = 100;

export class CutOff extends Error {
  override readonly name = "CutOff";
}

export interface Library {
  instance: RunningInstance;
  /** Whether a kill is under way. */
  isKilled: boolean;
  /** The collections that documents move between, and that of the site. */
  collections: { first: string; second: string; site: string };
  /** Reads `first` alone. */
  limitedKey: string;
}

export interface Answer<T> {
  status: number;
  body: T;
}

export interface Request {
  body?: unknown;
  /** The admin's where it is left out. */
  key?: string;
  idempotencyKey?: string;
}

/**
 * @throws CutOff where the runtime is killed meanwhile; Error for a fault of the server
 */
export async function ask<T>(
  library: Library,
  method: string,
  path: string,
  { body, key = library.instance.apiKey, idempotencyKey }: Request = {},
): Promise<Answer<T>> {
  const headers = {
    authorization: `Bearer ${key}`,
    "content-type": "application/json",
    ...(idempotencyKey !== undefined && { "idempotency-key": idempotencyKey }),
  };
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  try {
    const send = () => fetch(`${library.instance.url}/api/v1${path}`, { method, headers, ...sent });
    let response = await send();
    let text = await response.text();
    // nothing of it was done: as many were under way as are answered at once
    while (response.status === 503 && text.includes('"SERVICE_UNAVAILABLE"') && !library.isKilled) {
      await delay(BUSY_MS);
      response = await send();
      text = await response.text();
    }
    // the runtime may outlive what it asks by a moment
    if (response.status >= 500 && library.isKilled) throw new CutOff(text);
    if (response.status >= 500 || response.status === 429)
      throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return { status: response.status, body: (text === "" ? null : JSON.parse(text)) as T };
  } catch (cause) {
    if (library.isKilled && !(cause instanceof CutOff)) throw new CutOff("killed", { cause });
    throw cause;
  }
}

export interface ListedDocument {
  id: string;
  url: string;
  collection_id: string | null;
  tags: { name: string }[];
}

export async function documentsAt(library: Library, url: string, deleted = false): Promise<ListedDocument[]> {
  const query = new URLSearchParams({ url, deleted: String(deleted) });
  const { body } = await ask<{ items: ListedDocument[] }>(library, "GET", `/documents?${query}`);
  return body.items;
}

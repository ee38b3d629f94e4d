/** The runtime under test, its state and its surroundings, as faults and load see them. */
import { setTimeout as delay } from "node:timers/promises";
import type { GraphSite } from "../../test/services/graph-site.ts";
import type { Instance } from "../../test/services/instance.ts";
import type { FlakyProxy, FlakyReceiver } from "./flaky-doubles.ts";

export interface TestedSystem {
  /** Another one after each kill. */
  instance: Instance;
  sites: readonly GraphSite[];
  vectorStore: FlakyProxy;
  receiver: FlakyReceiver;
  /** Of requests of the load, by what was answered: `2xx`, `4xx`, `5xx`, `cut`. */
  answers: Record<string, number>;
  /** No more load. */
  isOver: boolean;
}

export interface Answer<T> {
  status: number;
  body: T;
}

const AGAIN_MS = 250;

/** @returns undefined where the connection was cut */
export async function ask<T>(
  system: TestedSystem,
  method: string,
  path: string,
  body?: unknown,
  idempotencyKey?: string,
): Promise<Answer<T> | undefined> {
  const { url, apiKey } = system.instance;
  const headers = {
    authorization: `Bearer ${apiKey}`,
    ...(body !== undefined && { "content-type": "application/json" }),
    ...(idempotencyKey !== undefined && { "idempotency-key": idempotencyKey }),
  };
  try {
    const response = await fetch(url + path, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    count(system, `${Math.floor(response.status / 100)}xx`);
    return { status: response.status, body: (text === "" ? null : JSON.parse(text)) as T };
  } catch {
    count(system, "cut");
    return undefined;
  }
}

/**
 * Sends what makes something, with one Idempotency-Key, until somebody has answered: whatever becomes of an answer,
 * there is one of it.
 * @throws Error where it is refused
 */
export async function make<T>(system: TestedSystem, path: string, body: unknown): Promise<T> {
  const key = crypto.randomUUID();
  for (;;) {
    const answer = await ask<T>(system, "POST", path, body, key);
    if (answer !== undefined && answer.status < 300) return answer.body;
    const isRefused = answer !== undefined && answer.status < 500 && ![409, 429].includes(answer.status);
    if (isRefused) throw new Error(`POST ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    await delay(AGAIN_MS);
  }
}

function count({ answers }: TestedSystem, outcome: string): void {
  answers[outcome] = (answers[outcome] ?? 0) + 1;
}

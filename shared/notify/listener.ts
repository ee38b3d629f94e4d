/**
 * A connection as a member of a set in the state table: its id, the key that it was opened with, and when it will be
 * gone whatever happens.
 */

export interface Listener {
  connectionId: string;
  /** Id of the API key. */
  keyId: string;
  /** Epoch seconds. */
  expiresAt: number;
}

/** API Gateway ends a connection after two hours; the rest is for clocks that disagree, and for what is under way. */
export const LISTENER_LIFETIME_S = 2 * 3600 + 15 * 60;

/** Neither in connection ids, which are base64, nor in ids of keys. */
const SEPARATOR = "@";

export const listenerName = ({ connectionId, keyId, expiresAt }: Listener): string =>
  [connectionId, keyId, expiresAt].join(SEPARATOR);

export function parseListener(name: string): Listener {
  const [connectionId = "", keyId = "", expiresAt = ""] = name.split(SEPARATOR);
  return { connectionId, keyId, expiresAt: Number(expiresAt) };
}

/** Milliseconds since the connection was opened. */
export const ageMs = ({ expiresAt }: Listener, now: number): number => now - (expiresAt - LISTENER_LIFETIME_S) * 1000;

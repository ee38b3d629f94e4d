/** A connection as a member of a set in the state table: its id, and when it will be gone whatever happens. */

export interface Listener {
  connectionId: string;
  /** Epoch seconds. */
  expiresAt: number;
}

/** API Gateway ends a connection after two hours; the rest is for clocks that disagree, and for what is under way. */
export const LISTENER_LIFETIME_S = 2 * 3600 + 15 * 60;

/** Of connection ids, which are base64. */
const SEPARATOR = "@";

export const listenerName = ({ connectionId, expiresAt }: Listener): string => connectionId + SEPARATOR + expiresAt;

export function parseListener(name: string): Listener {
  const at = name.lastIndexOf(SEPARATOR);
  return { connectionId: name.slice(0, at), expiresAt: Number(name.slice(at + 1)) };
}

/** Milliseconds since the connection was opened. */
export const ageMs = ({ expiresAt }: Listener, now: number): number => now - (expiresAt - LISTENER_LIFETIME_S) * 1000;

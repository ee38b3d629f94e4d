/** Server-sent events on the wire (https://html.spec.whatwg.org/multipage/server-sent-events.html). */

export interface ServerSentEvent {
  /** `message` where not given. */
  type?: string | undefined;
  /** What a client that comes again names as `Last-Event-ID`. */
  id?: string | number | undefined;
  /** One line, e.g. JSON. */
  data: string;
}

export function serverSentEvent({ type, id, data }: ServerSentEvent): string {
  const named = type === undefined ? "" : `event: ${type}\n`;
  return `${named}${id === undefined ? "" : `id: ${id}\n`}data: ${data}\n\n`;
}

/** What clients skip; it keeps whoever is in between from taking the connection for dead. */
export const SSE_PING = ": ping\n\n";

/** @param ms after which a client whose connection has ended comes again */
export const sseRetry = (ms: number): string => `retry: ${ms}\n\n`;

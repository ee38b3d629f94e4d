/**
 * When requests left this process, by its HTTP client. A server of the same process reads them later where the machine
 * is busy, and then closer together than they were sent: what a client keeps to is seen here.
 */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { onTestFinished } from "vitest";

/**
 * https://github.com/nodejs/undici/blob/main/docs/docs/api/DiagnosticsChannel.md: right before a request is written.
 */
const SEND_HEADERS = "undici:client:sendHeaders";

interface Departure {
  path: string;
  /** Epoch ms. */
  at: number;
}

/** From now on until the end of the test, in order. */
export function departuresTo(origin: string): Departure[] {
  const departures: Departure[] = [];
  const onSend = (message: unknown): void => {
    const { request } = message as { request: { origin: string | URL; path: string } };
    if (String(request.origin) === origin) departures.push({ path: request.path, at: Date.now() });
  };
  subscribe(SEND_HEADERS, onSend);
  onTestFinished(() => void unsubscribe(SEND_HEADERS, onSend));
  return departures;
}

/** Answers that no well-behaved server gives. */
import { setTimeout as delay } from "node:timers/promises";
import type { RawAnswer } from "./site.ts";

const HEAD = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n";

/** These bytes, and then the end of the connection. */
export const bytesThenClose = (bytes: string | Uint8Array): RawAnswer => ({ raw: (socket) => void socket.end(bytes) });

/** Never says a word. */
export const silence = (): RawAnswer => ({ raw: () => undefined });

/** Promises more than it sends, and stops sending without closing. */
export const stall = (sent: string): RawAnswer => ({
  raw: (socket) => void socket.write(`${HEAD}Content-Length: ${sent.length + 1000}\r\n\r\n${sent}`),
});

/** Sends what it promised only in part, and closes. */
export const shortBody = (sent: string, promised: number): RawAnswer =>
  bytesThenClose(`${HEAD}Content-Length: ${promised}\r\nConnection: close\r\n\r\n${sent}`);

/** Resets the connection after the bytes. */
export const reset = (bytes = ""): RawAnswer => ({
  async raw(socket) {
    if (bytes !== "") await new Promise<void>((resolve) => void socket.write(bytes, () => resolve()));
    socket.resetAndDestroy();
  },
});

/** As fast as the client reads, for ever. */
export const endless = (piece: string | Uint8Array): RawAnswer => ({
  raw(socket) {
    socket.write(`${HEAD}Connection: close\r\n\r\n`);
    const more = (): void => {
      while (!socket.destroyed && socket.write(piece));
    };
    socket.on("drain", more);
    more();
  },
});

/** A byte now and then, for ever: never idle, never done. */
export const drip = (everyMs: number): RawAnswer => ({
  async raw(socket) {
    socket.write(`${HEAD}Connection: close\r\n\r\n`);
    while (!socket.destroyed) {
      socket.write("<p>drip</p>");
      await delay(everyMs);
    }
  },
});

/** More response headers than any client takes. */
export const hugeHeaders = (bytes: number): RawAnswer =>
  bytesThenClose(`${HEAD}X-Huge: ${"h".repeat(bytes)}\r\nContent-Length: 2\r\n\r\nok`);

/** No HTTP at all. */
export const garbage = (): RawAnswer => bytesThenClose("SSH-2.0-OpenSSH_9.6\r\n\x00\x01\x02");

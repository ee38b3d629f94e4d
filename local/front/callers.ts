/**
 * Who may speak to a port of this machine: programs that run on it. A page in its browser is told by `Origin`, and one
 * that pointed a name of its own at 127.0.0.1 (DNS rebinding) by `Host`.
 */
import type { IncomingMessage } from "node:http";

export interface Refusal {
  status: 400 | 403;
  message: string;
}

/** `null` is the origin of sandboxed frames and files: no name at all. */
const LOOPBACK_NAME = /^(localhost|127\.0\.0\.1|\[::1\])$/i;
/** A name or an address in brackets, and a port. RFC 9112 3.2 */
const HOST = /^(\[[\d:a-f.]+\]|[\w.-]+)(?::(\d{1,5}))?$/i;

/**
 * @param loopbackPages whether a page that itself comes from this machine may ask, as the front end of somebody's own
 * @returns why the request is not answered
 */
export function refusalOf(
  { headers, rawHeaders }: Pick<IncomingMessage, "headers" | "rawHeaders">,
  loopbackPages = false,
): Refusal | undefined {
  const { host = "", origin } = headers;
  const named = rawHeaders.filter((text, index) => index % 2 === 0 && /^(host|origin)$/i.test(text));
  if (named.length > new Set(named.map((name) => name.toLowerCase())).size) {
    return { status: 400, message: "Host and Origin may be sent once: RFC 9112 3.2" };
  }
  const [, name] = HOST.exec(host) ?? [];
  if (name === undefined) {
    return { status: 400, message: "The Host header must be a name or an address, and a port" };
  }
  if (!LOOPBACK_NAME.test(name)) {
    return { status: 403, message: `This port answers to 127.0.0.1 and localhost, and not to ${name}` };
  }
  if (origin === undefined) return undefined;
  if (loopbackPages && LOOPBACK_NAME.test(URL.parse(origin)?.hostname ?? "")) return undefined;
  return { status: 403, message: "This port does not answer the pages of a browser (Origin header)" };
}

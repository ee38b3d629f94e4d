/** The name of a domain as the API takes it: what hosts are counted, slowed and blocked by. */
import { ApiError } from "../../platform/errors.ts";

/** A DNS name has at most 253 characters; a Unicode one is shorter than what it is encoded to. */
const MAX_LENGTH = 260;
/** What would make it more than a host with a port. */
const FORBIDDEN = /[/?#@\\\s\p{Cc}]/u;
const PORT = /:(\d*)$/;
/** Letters, digits, hyphens, and underscores that some names have; or an IPv6 address. */
const NAME = /^([a-z\d_-]{1,63}(\.[a-z\d_-]{1,63})*|\[[\da-f:.]+\])$/;

/**
 * Lower-case host, in its ASCII form, with its port unless that is 80 or 443.
 * @throws ApiError 400 VALIDATION_ERROR that says what is wrong
 */
export function parseDomain(text: string): string {
  const invalid = (why: string): never => {
    const shown = text.length > 100 ? `${text.slice(0, 100)}…` : text;
    throw new ApiError(400, `domain: ${JSON.stringify(shown)} ${why}`, {
      code: "VALIDATION_ERROR",
      details: { faults: [{ in: "path", path: "domain", message: why }] },
    });
  };
  if (text.length > MAX_LENGTH) invalid(`is longer than ${MAX_LENGTH} characters`);
  if (FORBIDDEN.test(text)) invalid("must be a host with an optional port, such as example.com or example.com:8080");
  const port = PORT.exec(text)?.[1];
  if (port !== undefined && !(Number(port) >= 1 && Number(port) <= 65_535)) invalid("must have a port from 1 to 65535");
  const url = URL.parse(`http://${text}/`);
  if (url === null || url.hostname === "") return invalid("is no host name");
  const host = url.hostname.replace(/\.$/, "");
  if (host.includes("*")) invalid("must name one host: there are no wildcards");
  if (host.length > 253 || !NAME.test(host)) invalid("is no host name");
  return url.port === "" || url.port === "443" ? host : `${host}:${url.port}`;
}

/**
 * Keys by which archives sort URLs (SURT, "Sort-friendly URI Reordering Transform"), as the tools of the field make
 * them: one host's captures stand together, and so do those of its subdomains.
 *
 * @example
 * surtOf("https://www.Example.org:443/A/?b=2&a=1#top") // => "org,example)/a?a=1&b=2"
 */
import { domainToASCII } from "node:url";
import { sha256 } from "../../platform/ids.ts";

/** Bytes of a key that are stored and compared; an entry of an index may hold 2,700. */
export const MAX_KEY_LENGTH = 2_000;

/** The key of a URL as it is stored: a longer one is cut, and ends in what tells it from its likes. */
export function urlKey(url: string): string {
  return shortenedKey(surtOf(url));
}

/** @param key ASCII */
function shortenedKey(key: string): string {
  if (key.length <= MAX_KEY_LENGTH) return key;
  return `${key.slice(0, MAX_KEY_LENGTH - 65)}~${sha256(key).toString("hex")}`;
}

/**
 * Scheme, `www.`, user, default port and fragment go; host, path and query are in lower case, parameters in order, and
 * ids of sessions are left out. The result is ASCII.
 * @param url with or without a scheme
 */
export function surtOf(url: string): string {
  const { scheme, host, port, path, query } = partsOf(url.replaceAll(/[\t\r\n]/g, "").trim());
  const name = surtHost(canonicalHost(host));
  const isDefault = port === "" || (scheme === "http" && port === "80") || (scheme === "https" && port === "443");
  return `${name}${isDefault ? "" : `:${port}`})${canonicalPath(path)}${canonicalQuery(query)}`;
}

interface Parts {
  scheme: string;
  host: string;
  port: string;
  path: string;
  /** Undefined where there is no question mark. */
  query: string | undefined;
}

function partsOf(url: string): Parts {
  const [whole = ""] = url.split("#", 1);
  const [, given = "http", rest = ""] = /^(?:([a-z][a-z0-9+.-]*):)?\/*(.*)$/is.exec(hasScheme(whole)) ?? [];
  const authorityEnd = rest.search(/[/?\\]/);
  const authority = authorityEnd === -1 ? rest : rest.slice(0, authorityEnd);
  const after = authorityEnd === -1 ? "" : rest.slice(authorityEnd);
  const [, host = "", port = ""] = /^(.*?)(?::(\d*))?$/s.exec(authority.slice(authority.lastIndexOf("@") + 1)) ?? [];
  const question = after.indexOf("?");
  const path = question === -1 ? after : after.slice(0, question);
  return {
    scheme: given.toLowerCase(),
    host,
    port: port.replace(/^0+(?=\d)/, ""),
    path,
    query: question === -1 ? undefined : after.slice(question + 1),
  };
}

/** `example.org:8080/` begins with a host and no scheme. */
const hasScheme = (url: string): string => (/^[a-z][a-z0-9+.-]*:\/\//i.test(url) ? url : `http://${url}`);

function canonicalHost(host: string): string {
  const plain = unescaped(host).toString();
  const ascii = domainToASCII(plain) || escaped(Buffer.from(plain.toLowerCase()));
  const name = ascii.replaceAll(/\.{2,}/g, ".").replaceAll(/^\.|\.$/g, "");
  return name.replace(/^www\d*\.(?=.)/, "");
}

const surtHost = (host: string): string => (host.startsWith("[") ? host : host.split(".").reverse().join(","));

/** ASP.NET without cookies. */
const SESSIONS_IN_PATH = [
  /^(.*\/)(?:\((?:[a-z]\([0-9a-z]{24}\))+\)\/)([^?]+\.aspx.*)$/i,
  /^(.*\/)(?:\([0-9a-z]{24}\)\/)([^?]+\.aspx.*)$/i,
];
const SESSIONS_IN_QUERY = [
  /^(.*)(?:jsessionid=[0-9a-z]{32})(?:&(.*))?$/i,
  /^(.*)(?:phpsessid=[0-9a-z]{32})(?:&(.*))?$/i,
  /^(.*)(?:sid=[0-9a-z]{32})(?:&(.*))?$/i,
  /^(.*)(?:aspsessionid[a-z]{8}=[a-z]{24})(?:&(.*))?$/i,
  /^(.*)(?:cfid=[^&]+&cftoken=[^&]+)(?:&(.*))?$/i,
];

function canonicalPath(path: string): string {
  const whole = escaped(Buffer.from(withoutDots(unescaped(path).toString("latin1")), "latin1"));
  const plain = SESSIONS_IN_PATH.reduce((text, pattern) => text.replace(pattern, "$1$2"), whole).toLowerCase();
  return plain.length > 1 && plain.endsWith("/") ? plain.slice(0, -1) : plain;
}

/** Empty segments go as well. */
function withoutDots(path: string): string {
  const segments = path.split("/");
  const kept: string[] = [];
  for (const segment of segments) {
    if (segment === "..") kept.pop();
    else if (segment !== "." && segment !== "") kept.push(segment);
  }
  const isFolder = ["", ".", ".."].includes(segments.at(-1) ?? "");
  return `/${kept.join("/")}${isFolder && kept.length > 0 ? "/" : ""}`;
}

function canonicalQuery(query: string | undefined): string {
  const plain = escaped(unescaped(query ?? ""));
  const kept = SESSIONS_IN_QUERY.reduce((text, pattern) => text.replace(pattern, "$1$2"), plain).toLowerCase();
  const pairs = kept.split("&").map((pair) => pair.split(/=(.*)/s, 2));
  const ordered = pairs.sort(
    ([name = "", value], [otherName = "", other]) =>
      compare(name, otherName) || Number(value !== undefined) - Number(other !== undefined) || compare(value, other),
  );
  const text = ordered.map(([name, value]) => (value === undefined ? name : `${name}=${value}`)).join("&");
  return text === "" ? "" : `?${text}`;
}

const compare = (one = "", other = ""): number => (one < other ? -1 : one > other ? 1 : 0);

/** Percent-decoded until nothing is left to decode: bytes, which need be no UTF-8. */
function unescaped(text: string): Buffer {
  const bytes = Buffer.from(text);
  if (!bytes.includes(PERCENT)) return bytes;
  let length = 0;
  for (const byte of bytes) {
    bytes[length++] = byte;
    // what was decoded may be the end of another escape
    for (let high = 0, low = 0; length >= 3 && bytes[length - 3] === PERCENT; length -= 2) {
      high = hexDigit(bytes[length - 2]);
      low = hexDigit(bytes[length - 1]);
      if (high === -1 || low === -1) break;
      bytes[length - 3] = high * 16 + low;
    }
  }
  return bytes.subarray(0, length);
}

const PERCENT = 0x25;
const hexDigit = (byte = 0): number => "0123456789abcdef".indexOf(String.fromCharCode(byte).toLowerCase());

function escaped(bytes: Buffer): string {
  return bytes
    .toString("latin1")
    .replaceAll(/[^!-~]|[#%]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`);
}

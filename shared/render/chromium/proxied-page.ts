/**
 * What the guard proxy knows of the page that it serves: how its requests are known, what they may still spend, why
 * some were refused.
 */
import { randomBytes, timingSafeEqual } from "node:crypto";
import { UrlRefusedError } from "../../access/url-guard.ts";
import type { PageEgress } from "./page-egress.ts";

export interface Budget {
  /** Requests, or connections where what goes through them is encrypted. */
  requests: number;
  /** Bytes in either direction. */
  bytes: number;
}

export interface PageRoute {
  /** Undefined: directly. */
  egress?: PageEgress | undefined;
  /** Asked right before anything leaves for a host, as in its URL; undefined: it always may. */
  mayLeave?: ((host: string) => Promise<boolean>) | undefined;
}

export interface ProxiedPage {
  readonly user: string;
  /** Of this page alone: the browser may still send what a closed page asked for when the next one has begun. */
  readonly password: string;
  readonly egress: PageEgress | undefined;
  /**
   * Right before something leaves for a host, as in its URL.
   * @throws UrlRefusedError where it must not
   */
  confirm(host: string): Promise<void>;
  /** Whether a connection through the exit has come about. */
  hasWorked: boolean;
  /** Without what is private in URLs; each once. */
  readonly refusals: ReadonlySet<string>;
  readonly hasBytesLeft: boolean;
  /** @param authorization the header `Proxy-Authorization`; empty where there was none */
  isKnownBy(authorization: string): boolean;
  /** @throws UrlRefusedError where nothing is left */
  spendRequest(): void;
  /** @returns whether there were as many */
  spendBytes(bytes: number): boolean;
  refuse(why: string): void;
}

const USER = "strandline";
const MOST_REFUSALS = 20;

/** Begins a page of which the guard proxy knows. */
export function proxiedPage(budget: Budget, { egress, mayLeave }: PageRoute = {}): ProxiedPage {
  const password = randomBytes(24).toString("base64url");
  const expected = Buffer.from(`Basic ${Buffer.from(`${USER}:${password}`).toString("base64")}`);
  const left = { ...budget };
  const refusals = new Set<string>();
  return {
    user: USER,
    password,
    egress,
    async confirm(host) {
      if (mayLeave === undefined || (await mayLeave(host))) return;
      throw new UrlRefusedError("URL_BLOCKED", `${host} is blocked, or nobody wants the page any more`);
    },
    hasWorked: false,
    refusals,
    get hasBytesLeft() {
      return left.bytes >= 0;
    },
    isKnownBy(authorization) {
      const given = Buffer.from(authorization);
      return given.length === expected.length && timingSafeEqual(given, expected);
    },
    spendRequest() {
      if (left.requests <= 0 || left.bytes <= 0) {
        throw new UrlRefusedError("URL_BLOCKED", "the page has used up its requests");
      }
      left.requests -= 1;
    },
    spendBytes(bytes) {
      left.bytes -= bytes;
      return left.bytes >= 0;
    },
    refuse(why) {
      if (refusals.size < MOST_REFUSALS) refusals.add(why);
    },
  };
}

/** What somebody can do about a failure, by its code. What passes by itself has "Retry" above. */
import { hrefOf } from "../../router.ts";

export interface NextStep {
  text: string;
  /** The view where it is done. */
  href?: string;
}

const RETRY = { text: "It may pass: retry the job later" };
const DOMAINS = hrefOf(["settings"]);
const AGAIN = hrefOf(["crawl"]);

const STEPS: Readonly<Record<string, NextStep>> = {
  URL_BLOCKED: { text: "Whoever runs Strandline can allow the host: ACCESS__ALLOW_HOSTS" },
  ROBOTS_DENIED: { text: "Ask the site's owner; with their leave, crawl with respect_robots_txt: false", href: AGAIN },
  ROBOTS_UNREACHABLE: { text: "Retry once the site answers again" },
  DOMAIN_BLOCKED: { text: "Unblock the domain, then start another job", href: DOMAINS },
  CIRCUIT_OPEN: { text: "See the domain's circuit, and retry when the site answers again", href: DOMAINS },
  DNS_FAILURE: { text: "Check the name: it may be misspelt, or gone" },
  CONNECT_FAILED: RETRY,
  CONNECT_TIMEOUT: RETRY,
  CONNECTION_RESET: RETRY,
  HEADERS_TIMEOUT: RETRY,
  BODY_TIMEOUT: RETRY,
  LENGTH_MISMATCH: RETRY,
  DEAD_LETTERED: RETRY,
  TLS_ERROR: { text: "Open the page in a browser: its certificate may be out of date" },
  RATE_LIMITED: { text: "Set a lower rate for the domain, then retry", href: DOMAINS },
  UNSUPPORTED_TYPE: { text: "It is in the archive; a search has nothing of it" },
  EMPTY_BODY: { text: "Crawl it with render: always: scripts may write what it says", href: AGAIN },
  OUT_OF_SCOPE: { text: "Crawl with a wider scope", href: AGAIN },
  PROXY_UNAVAILABLE: { text: "Test the proxy config", href: DOMAINS },
  TIMEOUT: { text: "Give the job more time: timeout_seconds", href: AGAIN },
  BUDGET_EXHAUSTED: { text: "Give the job more pages: max_pages", href: AGAIN },
  HOST_BUDGET_EXHAUSTED: { text: "Give the host more pages: max_pages_per_host", href: AGAIN },
  QUOTA_EXCEEDED: { text: "Wait for the next day, or have the quotas of the API key raised" },
};

export function nextStepOf(code: string): NextStep | undefined {
  const status = Number(/^HTTP_(\d+)$/.exec(code)?.[1] ?? Number.NaN);
  if (status >= 500) return RETRY;
  if (status === 401 || status === 403) {
    return { text: "Crawl with the headers or cookies of somebody who may read it", href: AGAIN };
  }
  if (status === 404 || status === 410) return { text: "Nothing: the page is gone, or a link to it is wrong" };
  return Object.hasOwn(STEPS, code) ? STEPS[code] : undefined;
}

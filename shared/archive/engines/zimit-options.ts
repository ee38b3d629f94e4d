/**
 * What the argument parsers of zimit (openzim/zimit at 6db73a0, 2026) and warc2zim 2.3.1 take, beside what a job sets
 * itself: a task whose arguments they refuse has failed, so faults are told before there is a task. An option that
 * neither has is left to them: a newer zimit may have it.
 */

const CONTEXTS =
  "general worker recorder recorderNetwork writer state redis storage text exclusion screenshots screencast " +
  "originOverride healthcheck browser blocking behavior behaviorScript jsError fetch pageStatus memoryStatus " +
  "crawlStatus links sitemap wacz replay proxy";

type Kind = "text" | "number" | "switch" | readonly string[];
const names = (kind: Kind, list: string): [string, Kind][] => list.split(" ").map((name) => [name, kind]);

/** Spelt as they are: both parsers tell capitals and hyphens apart. */
const KINDS = new Map<string, Kind>([
  ...names(
    "text",
    "title description long-description waitUntil scopeIncludeRx scopeExcludeRx selectLinks clickSelector " +
      "blockRules blockMessage blockAds adBlockMessage driver text mobileDevice userAgent userAgentSuffix " +
      "useSitemap sitemapFromDate sitemapToDate warc2zim-progress-file behaviors profile screenshot " +
      "warcInfo lang originOverride warcPrefix serviceWorker proxyServer sshProxyPrivateKeyFile " +
      "sshProxyKnownHostsFile adminEmail custom-css zim-lang custom-behaviors include-domains favicon " +
      "zim-file tags publisher creator source failed-items charsets-to-try encoding-aliases",
  ),
  ...names(
    "number",
    "depth extraHops pageLimit maxPageLimit pageLoadTimeout rolloverSize behaviorTimeout postLoadDelay " +
      "pageExtraDelay screencastPort saveStateHistory sizeSoftLimit sizeHardLimit diskUtilization " +
      "timeSoftLimit timeHardLimit healthCheckPort netIdleWait maxPageRetries content-header-bytes-length",
  ),
  ...names(
    "switch",
    "allowHashUrls headless generateCDX combineWARC generateWACZ screencastRedis overwrite " +
      "restartsOnError logErrorsToRedis writePagesToRedis failOnFailedSeed failOnFailedLimit " +
      "failOnInvalidStatus debugAccessBrowser qaDebugImageDiff verbose continue-on-error " +
      "disable-metadata-checks ignore-content-header-charsets ignore-http-header-charsets ignore-unknown-charsets",
  ),
  ["scopeType", ["page", "page-spa", "prefix", "host", "domain", "any", "custom"]],
  ["logContext", CONTEXTS.split(" ")],
  ["logExcludeContext", CONTEXTS.split(" ")],
  ["dedupPolicy", ["skip", "revisit", "keep"]],
]);

/** With these it ends without a crawl, or not at all. */
const NO_CRAWL = ["help", "version", "dryRun", "qaSource", "waitOnDone"];

const EXCLUSIVE = [
  ["sizeSoftLimit", "sizeHardLimit"],
  ["timeSoftLimit", "timeHardLimit"],
] as const;

/** Graphemes of metadata of a ZIM file. */
export const LONGEST_TITLE = 30;
const LONGEST_DESCRIPTION = 80;

const longest = (most: number) => (value: string) =>
  graphemes(value).length > most ? `may have ${most} characters, as ZIM files may` : undefined;
/** What the two demand of values. */
const RULES: Readonly<Record<string, (value: string) => string | undefined>> = {
  title: longest(LONGEST_TITLE),
  description: longest(LONGEST_DESCRIPTION),
  favicon: (value) => (/^https?:\/\//.test(value) ? undefined : "takes an http(s) URL"),
  "zim-lang": (value) => (value.includes(",") ? "takes one language" : undefined),
  "zim-file": (value) =>
    /^[^/\\{}]*(\{period\})?[^/\\{}]*\.zim$/.test(value)
      ? undefined
      : "takes a file's name that ends in .zim and is no path; {period} in it is the month",
  "encoding-aliases": (value) =>
    value.split(",").every((pair) => /^[^=]+=[^=]+$/.test(pair)) ? undefined : "takes pairs as alias=encoding,b=c",
};

/**
 * May begin with a hyphen. zimit hands others on in a way that takes such a value for an option; those of warc2zim it
 * leaves as they came, and patterns are put in parentheses.
 */
const WITH_HYPHEN =
  "scopeIncludeRx scopeExcludeRx include-domains tags publisher creator source failed-items charsets-to-try".split(" ");

const keyOf = (name: string): string => name.replaceAll(/[-_]/g, "").toLowerCase();

/** What both would refuse of one option, or do otherwise than whoever wrote it meant; undefined: nothing. */
export function zimitOptionFault({ name, value }: { name: string; value: string | undefined }): string | undefined {
  if (NO_CRAWL.some((each) => keyOf(each) === keyOf(name))) return `--${name} lets no crawl come to its end`;
  const kind = KINDS.get(name);
  if (kind === undefined) return spellingFault(name);
  if (kind === "switch") return value === undefined ? undefined : `--${name} takes no value`;
  if (value === undefined) return `--${name} needs a value`;
  if (kind === "number") return /^[+-]?\d{1,15}$/.test(value) ? undefined : `--${name} takes a whole number`;
  if (kind !== "text") return kind.includes(value) ? undefined : `--${name} takes one of ${kind.join(", ")}`;
  if (value.startsWith("-") && !WITH_HYPHEN.includes(name)) return `the value of --${name} may not begin with a hyphen`;
  const fault = RULES[name]?.(value);
  return fault && `--${name} ${fault}`;
}

/** Of all options together: those that exclude each other, by the second of them. */
export function exclusiveOptions(given: readonly string[]): { name: string; message: string }[] {
  return EXCLUSIVE.flatMap((pair) => {
    const [first, second] = given.filter((name) => (pair as readonly string[]).includes(name));
    return second === undefined ? [] : [{ name: second, message: `--${second} excludes --${first}` }];
  });
}

/** Parsers take a beginning for the option that it may be of, and no other capitals or hyphens. */
function spellingFault(name: string): string | undefined {
  const key = keyOf(name);
  const known = [...KINDS.keys()];
  const same = known.find((each) => keyOf(each) === key);
  if (same !== undefined) return `--${name} is spelt --${same}`;
  const longer = known.filter((each) => keyOf(each).startsWith(key));
  if (longer.length === 0) return undefined;
  return `--${name} would be taken for a beginning: write ${longer.map((each) => `--${each}`).join(" or ")} whole`;
}

export const graphemes = (text: string): string[] =>
  [...new Intl.Segmenter("en", { granularity: "grapheme" }).segment(text)].map(({ segment }) => segment);

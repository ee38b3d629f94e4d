/**
 * What the end of a run means: by zimit's own exit code and what it has captured. Codes of zimit 3.1.2 and of
 * browsertrix-crawler 1.14.1, whose codes zimit hands on; 32 and 33 are limits of earlier ones.
 */

export type Verdict =
  /** All was crawled. */
  | "succeeded"
  /** A limit was met: what there is counts. */
  | "limited"
  /** Ended from outside, or without a word: it may go on where it stood. */
  | "interrupted"
  /** It may be tried again. */
  | "failed"
  /** Its arguments are wrong: another try would be refused as well. */
  | "refused";

const LIMITS: Readonly<Record<number, string>> = {
  14: "the size limit was reached",
  15: "the time limit was reached",
  16: "the disk's limit was reached",
  32: "the size limit was reached",
  33: "the time limit was reached",
};

const FAULTS: Readonly<Record<number, string>> = {
  1: "a general fault",
  3: "no space is left",
  8: "Redis failed",
  9: "the crawl failed",
  10: "the browser crashed",
  12: "too many pages failed",
  17: "a fatal fault",
  18: "the site limits the rate",
  21: "the proxy failed",
  22: "an upload of the crawler failed",
};

const REFUSED: Readonly<Record<number, string>> = {
  2: "warc2zim refuses the arguments",
  4: "the crawler refuses its configuration",
};

/** After a signal: the crawler's own, and those of the shell. */
const INTERRUPTED = [11, 13, 130, 137, 143];

export interface RunEnd {
  /** null where it went without one: with its machine, or killed. */
  exitCode: number | null;
  /** Somebody asked it to end. */
  interrupted: boolean;
  warcFiles: number;
  /** A limit was met that zimit was told to accept. */
  partial: boolean;
}

export function verdictOf({ exitCode, interrupted, warcFiles, partial }: RunEnd): { verdict: Verdict; why: string } {
  if (exitCode === null) return { verdict: "interrupted", why: "it went without an exit code" };
  const refused = REFUSED[exitCode];
  if (refused !== undefined) return { verdict: "refused", why: `exit code ${exitCode}: ${refused}` };
  if (INTERRUPTED.includes(exitCode) || (interrupted && exitCode !== 0 && LIMITS[exitCode] === undefined))
    return { verdict: "interrupted", why: `exit code ${exitCode}: it was interrupted` };
  const limit = LIMITS[exitCode] ?? (exitCode === 0 && partial ? "a limit was reached" : undefined);
  if (exitCode !== 0 && limit === undefined)
    return { verdict: "failed", why: `exit code ${exitCode}: ${FAULTS[exitCode] ?? "nobody knows it"}` };
  if (warcFiles === 0) return { verdict: "failed", why: `exit code ${exitCode}, and there is no WARC file` };
  return limit === undefined
    ? { verdict: "succeeded", why: "" }
    : { verdict: "limited", why: `exit code ${exitCode}: ${limit}` };
}

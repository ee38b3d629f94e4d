/**
 * The command line of zimit for a job, by the argument parser of zimit 3.1.2: of an option that comes twice it takes
 * the last one, and `--seeds` it splits at commas, which URLs may hold; so seeds go in a file.
 */
import type { Passthrough } from "./passthrough.ts";
import { graphemes, LONGEST_TITLE } from "./zimit-options.ts";

/** The shared volume, as the containers of a task see it. */
export const OUTPUT = "{output}";
export const SEED_FILE = `${OUTPUT}/.run/seeds.txt`;
export const STATE_FILE = `${OUTPUT}/.run/state.yaml`;
export const PROGRESS_FILE = `${OUTPUT}/.run/progress.json`;
export const BUILD = `${OUTPUT}/build`;

const ACCEPTED_CODES = "14,15,16,32,33";
/** Seconds between two states of the crawl that a later run may go on from. */
const STATE_INTERVAL = 300;

export interface ZimitRun {
  jobName: string;
  title: string;
  workers: number;
  logLevel: string;
  passthrough: readonly Passthrough[];
  /** Whether it goes on from a saved state. */
  resumes: boolean;
}

/** @returns program and arguments; `{output}` stands for the folder of the run */
export function zimitCommand({ jobName, title, workers, logLevel, passthrough, resumes }: ZimitRun): string[] {
  return [
    "zimit",
    ...["--seedFile", SEED_FILE],
    ...["--name", jobName],
    ...["--title", titleOf(title) || titleOf(jobName)],
    ...["--output", OUTPUT],
    // zimit deletes a folder of its own making after success, with the WARC files in it
    ...["--build", BUILD],
    ...["--workers", String(workers)],
    ...["--logging", "stats"],
    ...["--logLevel", logLevel === "DEBUG" ? "debug,info,warn,error" : "info,warn,error"],
    ...["--saveState", "always", "--saveStateInterval", String(STATE_INTERVAL)],
    ...["--zimit-progress-file", PROGRESS_FILE],
    ...["--acceptable-crawler-exit-codes", ACCEPTED_CODES],
    ...(resumes ? ["--config", STATE_FILE] : []),
    ...argumentsOf(passthrough),
  ];
}

/** zimit hands it on in a way that takes what begins with a hyphen for an option. */
const titleOf = (text: string): string =>
  graphemes(text.replace(/^[-\s]+/, ""))
    .slice(0, LONGEST_TITLE)
    .join("")
    .trim();

/** Patterns that come several times are one for zimit, which takes one. */
const JOINED = ["scopeincluderx", "scopeexcluderx"];

function argumentsOf(passthrough: readonly Passthrough[]): string[] {
  const written: string[] = [];
  const joined = new Map<string, { name: string; patterns: string[] }>();
  for (const { key, name, value } of passthrough) {
    if (JOINED.includes(key) && value !== undefined) {
      const known = joined.get(key) ?? { name, patterns: [] };
      known.patterns.push(value);
      joined.set(key, known);
      // with an equals sign: a value may begin with a hyphen
    } else written.push(value === undefined ? `--${name}` : `--${name}=${value}`);
  }
  for (const { name, patterns } of joined.values()) {
    const [first = "", ...others] = patterns;
    const stands = others.length === 0 && !first.startsWith("-");
    const pattern = stands ? first : patterns.map((each) => `(?:${each})`).join("|");
    written.push(`--${name}=${pattern}`);
  }
  return written;
}

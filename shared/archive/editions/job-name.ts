/** The names of archive jobs, and where what they leave lies. */

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;
const FIELD = /\{([^{}]*)\}/g;

/** Whether a job may be called so: it is part of keys and of file names, so it is no path. */
export const isJobName = (name: string): boolean => NAME.test(name) && !name.includes("..");

export const JOB_NAME_RULE =
  "must be 1 to 100 letters, digits, dots, hyphens and underscores, begin with a letter or digit, and hold no `..`";

const twoDigits = (value: number): string => String(value).padStart(2, "0");

/** What `{date:…}` of a template may hold, in UTC. */
const DATE_PARTS: Readonly<Record<string, (at: Date) => string>> = {
  Y: (at) => String(at.getUTCFullYear()),
  m: (at) => twoDigits(at.getUTCMonth() + 1),
  d: (at) => twoDigits(at.getUTCDate()),
  H: (at) => twoDigits(at.getUTCHours()),
  M: (at) => twoDigits(at.getUTCMinutes()),
  S: (at) => twoDigits(at.getUTCSeconds()),
};

/** What is wrong with a template as `hc-{date:%Y%m%d}`; undefined: nothing. */
export function templateFault(template: string): string | undefined {
  for (const [whole, field = ""] of template.matchAll(FIELD)) {
    if (!field.startsWith("date:")) return `${whole} is not known: {date:%Y%m%d} is`;
    const unknown = [...field.slice(5).matchAll(/%(.?)/g)].find(([, part = ""]) => !(part in DATE_PARTS));
    if (unknown)
      return `${unknown[0]} is not known: ${Object.keys(DATE_PARTS)
        .map((part) => `%${part}`)
        .join(", ")} are`;
  }
  return isJobName(jobName(template, new Date(0))) ? undefined : `what it makes ${JOB_NAME_RULE}`;
}

/** @param template without a fault */
export function jobName(template: string, at: Date): string {
  return template.replaceAll(FIELD, (_, field: string) =>
    field.slice(field.indexOf(":") + 1).replaceAll(/%(.)/g, (whole, part: string) => DATE_PARTS[part]?.(at) ?? whole),
  );
}

/** Keys below which the engine of a job leaves its files. */
export const OUTPUT_PREFIX = "archive-jobs/";

/**
 * @param id of the job; none of one that is planned: jobs of one name may be made within a second
 * @returns the prefix of keys, e.g. `archive-jobs/hc/20251209T210911Z__hc-20251209__12/`
 */
export function outputDir(sourceCode: string, name: string, at: Date, id?: number): string {
  const stamp = jobName("{date:%Y%m%dT%H%M%SZ}", at);
  return `${OUTPUT_PREFIX}${sourceCode}/${stamp}__${name}${id === undefined ? "" : `__${id}`}/`;
}

/** What lies there until the job is cleaned up. */
export const temporaryPrefix = (dir: string): string => `${dir}tmp/`;

/** The times of archives: up to 14 digits, from the year to the second, in UTC. */

/** @example timestampOf(new Date("2026-01-02T03:04:05Z")) // => "20260102030405" */
export const timestampOf = (date: Date): string => date.toISOString().replace(/\D/g, "").slice(0, 14);

const LAST = "99991231235959";

/**
 * @param text 4 to 14 digits; what is left out is the beginning of what is there
 * @returns undefined where it names no time
 */
export function timeOf(text: string): Date | undefined {
  if (!/^\d{4,14}$/.test(text)) return undefined;
  const digits = text + "00000101000000".slice(text.length);
  const [, year, month, day, hour, minute, second] = /^(....)(..)(..)(..)(..)(..)$/.exec(digits) ?? [];
  const time = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  return Number.isNaN(time.getTime()) || digits > LAST ? undefined : time;
}

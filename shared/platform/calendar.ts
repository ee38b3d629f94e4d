/** The calendar of times that people and archivers write, in UTC. */

/** @param month from 1 */
export function daysOf(year: number, month: number): number {
  return new Date(new Date(0).setUTCFullYear(year, month, 0)).getUTCDate();
}

/** The times of archives: up to 14 digits, from the year to the second, in UTC. */
import { parseTimestamp } from "../cdx/cdx-query.ts";

/** @example timestampOf(new Date("2026-01-02T03:04:05Z")) // => "20260102030405" */
export const timestampOf = (date: Date): string => date.toISOString().replace(/\D/g, "").slice(0, 14);

/**
 * @param text 4 to 14 digits; what is left out is the beginning of what is there
 * @returns undefined where it names no time
 */
export const timeOf = (text: string): Date | undefined => (text.length < 4 ? undefined : parseTimestamp(text, "first"));

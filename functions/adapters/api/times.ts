/** Days and moments that requests name: those that the database has. */
import { z } from "zod";
import { endOfDay, isInCalendar } from "../../../shared/platform/calendar.ts";

export const OUT_OF_CALENDAR = "is before the year 1 or after 9999, by UTC";

/** What is no time at all is refused as such. */
const isStorable = (text: string): boolean => Number.isNaN(Date.parse(text)) || isInCalendar(text);

/** `2026-01-02`. */
export const dayParameter = z.iso.date().refine(isStorable, OUT_OF_CALENDAR);

/** `2026-01-02T03:04:05Z`, or with an offset. */
export const momentParameter = z.iso.datetime({ offset: true }).refine(isStorable, OUT_OF_CALENDAR);

/** The time from the beginning of one day to the end of another. */
export const daySpan = (from: string | undefined, to: string | undefined) => ({
  from: from === undefined ? undefined : new Date(from),
  before: to === undefined ? undefined : endOfDay(to),
});

/** What those who keep sources and those who keep their schedules at EventBridge tell each other. */
import { z } from "zod";

/** Read by the function that asks EventBridge Scheduler. */
export const SCHEDULES_QUEUE = "source-schedules";
/** Read by the function that begins the jobs of sources. */
export const RUNS_QUEUE = "source-runs";

const version = z.int().min(1);

/** A source has these schedules from now on, unless there is news of a later version; none: it has no schedule. */
export const keepSchema = z.strictObject({
  keep: z.strictObject({
    source_id: z.uuid(),
    version,
    /** Of EventBridge, from `toEventBridge`. */
    expressions: z.array(z.string()),
    time_zone: z.string(),
  }),
});
export type KeepSchedules = z.output<typeof keepSchema>["keep"];

/** A schedule fires. */
const fireSchema = z.strictObject({
  fire: z.strictObject({
    source_id: z.uuid(),
    version,
    /** When it was to fire, to the minute; ISO 8601. */
    at: z.iso.datetime(),
  }),
});
export type Firing = z.output<typeof fireSchema>["fire"];

/** EventBridge has the schedules of this version, and none of an earlier one. */
const keptSchema = z.strictObject({ kept: z.strictObject({ source_id: z.uuid(), version }) });

/** All schedules there are of sources with an id above `after`, up to `upto`; null: no bound. */
const listedSchema = z.strictObject({
  listed: z.strictObject({
    after: z.uuid().nullable(),
    upto: z.uuid().nullable(),
    /** Before the list was begun. */
    at: z.iso.datetime(),
    sources: z.array(
      z.strictObject({
        source_id: z.uuid(),
        /** The latest of its schedules. */
        version,
        /** How many schedules it has of that version. */
        schedules: z.int(),
      }),
    ),
  }),
});
export type ListedSchedules = z.output<typeof listedSchema>["listed"];

export const runsMessageSchema = z.union([fireSchema, keptSchema, listedSchema]);
export type RunsMessage = z.output<typeof runsMessageSchema>;

/** Schedules in one JSON file, replaced as a whole with every change. */
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { z } from "zod";
import { type Schedule, scheduleArn, scheduleSchema } from "./schedules.ts";

export interface ScheduleStore {
  /** By group, then name. */
  all(): Schedule[];
  get(group: string, name: string): Schedule | undefined;
  put(schedule: Schedule): void;
  delete(schedule: Schedule): void;
}

/**
 * @param file in memory where it is undefined
 * @throws where the file is not what this module writes
 */
export function openScheduleStore(file: string | undefined): ScheduleStore {
  const schedules = new Map<string, Schedule>();
  if (file !== undefined) {
    for (const schedule of z.array(scheduleSchema).parse(readJson(file)))
      schedules.set(scheduleArn(schedule), schedule);
  }
  const save = () => {
    if (file === undefined) return;
    writeFileSync(`${file}.partial`, JSON.stringify([...schedules.values()], null, 2));
    renameSync(`${file}.partial`, file);
  };
  return {
    all: () => [...schedules.values()].sort((one, other) => (scheduleArn(one) < scheduleArn(other) ? -1 : 1)),
    get: (GroupName, Name) => schedules.get(scheduleArn({ GroupName, Name })),
    put(schedule) {
      schedules.set(scheduleArn(schedule), schedule);
      save();
    },
    delete(schedule) {
      schedules.delete(scheduleArn(schedule));
      save();
    },
  };
}

function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw new Error(`${file} cannot be read; move it away to start without schedules`, { cause: error });
  }
}

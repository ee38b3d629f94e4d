import type { Words } from "../../forms/fields.tsx";

/** Fields of a source that everybody fills in. */
export const WORDS: Words = {
  name: { label: "Name" },
  url: { label: "Address" },
  type: { label: "What to crawl", hint: "site: from there on. page: that page alone" },
  schedule_cron: { label: "Schedule", hint: "Minute, hour, day, month, weekday: 30 6 * * MON-FRI. Empty: by hand" },
  time_zone: { label: "Time zone", hint: "By its name: Europe/Berlin" },
};

export const FIRST = Object.keys(WORDS);

/** The names of relative dates, which a language model may write instead of days, and how many days ago they are. */
export const DAYS_AGO = {
  "{TODAY}": 0,
  "{YESTERDAY}": 1,
  "{LAST_WEEK_START}": 7,
  "{LAST_WEEK_END}": 0,
  "{LAST_MONTH_START}": 30,
  "{LAST_MONTH_END}": 0,
} as const;

export const PLACEHOLDERS = Object.keys(DAYS_AGO);

export const isPlaceholder = (text: string): boolean => Object.hasOwn(DAYS_AGO, text);

/**
 * Changes of the API that break clients and are wanted all the same within a major version: each line of
 * `checks/breaking-changes.ts`, and why.
 */
export const ALLOWED_BREAKS: Readonly<Record<string, string>> = {};

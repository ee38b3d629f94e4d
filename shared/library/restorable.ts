/** Days that a deleted document can be restored. */
export const RESTORABLE_DAYS = 30;

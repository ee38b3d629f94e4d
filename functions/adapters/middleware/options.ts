/** How every handler sets up middy. */

/**
 * middy ends a handler 5 ms before its function is stopped, unless told not to: ours keep time, and give back their
 * leases.
 */
export const NO_EARLY_END = { timeoutEarlyInMillis: 0 };

/** The order of the frontier as one number: lower goes first. */

/** Discoveries per depth that keep their order exactly; depth × 2^32 + ordinal stays an exact double up to depth 2^20. */
const ORDINALS = 2 ** 32;

/** Breadth first: by depth, then in order of discovery. */
export function breadthFirstPriority(depth: number, ordinal: number): number {
  return depth * ORDINALS + ordinal;
}

/**
 * The result of `make`, made at the first call and kept: what a container builds once. The annotation lets a bundle leave
 * out the clients that it never uses.
 */
// @__NO_SIDE_EFFECTS__
export function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/** Finds circles of a directed graph: Tarjan's strongly connected components, SIAM J. Comput. 1(2), 1972. */

/**
 * Finds the circles among the edges.
 * @returns each set of nodes that reach one another, in the order of a walk through it; a node on its own only if it
 * points to itself
 */
export function circles(edges: readonly (readonly [string, string])[]): string[][] {
  const targets = new Map<string, string[]>();
  for (const [from, to] of edges) targets.set(from, [...(targets.get(from) ?? []), to]);
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const found: string[][] = [];

  const visit = (node: string): number => {
    const own = index.size;
    index.set(node, own);
    low.set(node, own);
    stack.push(node);
    for (const target of targets.get(node) ?? []) {
      const reached = index.has(target) ? (stack.includes(target) ? (index.get(target) ?? own) : own) : visit(target);
      low.set(node, Math.min(low.get(node) ?? own, reached));
    }
    if (low.get(node) === own) {
      const members = stack.splice(stack.indexOf(node));
      if (members.length > 1 || targets.get(node)?.includes(node)) found.push(members);
    }
    return low.get(node) ?? own;
  };

  for (const node of targets.keys()) if (!index.has(node)) visit(node);
  return found;
}

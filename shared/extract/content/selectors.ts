/** CSS selectors over the tree of a page: checked where a request names them, bounded where a page meets them. */
import { compile, type Options } from "css-select";
import { isTraversal, parse, type Selector, SelectorType } from "css-what";
import type { AnyNode } from "domhandler";
import { collapsedText } from "../parse/element-kinds.ts";
import { PageElement } from "../parse/page-tree.ts";

/**
 * Steps through the tree for one page: about a second of processor time. `a ~ b` or `:nth-child` among n siblings take
 * n² of them.
 */
const MOST_STEPS = 30_000_000;

/** What an archived page can answer; states of a browser are none. */
const PSEUDO_CLASSES = new Set(
  (
    "is where not has root empty first-child last-child only-child first-of-type last-of-type only-of-type nth-child " +
    "nth-last-child nth-of-type nth-last-of-type any-link link lang checked disabled enabled required optional"
  ).split(" "),
);

/** Whether an element of the page matches; with `PageElement` alone. */
export type Matcher = (element: PageElement) => boolean;

/** A selector that this page makes take too long. */
export class SelectorLimitError extends Error {
  override name = "SelectorLimitError";
}

/** @returns why it is no selector that can be used, in words for who wrote it; null where it is one */
export function checkSelector(selector: string): string | null {
  try {
    const problem = unusable(parse(selector));
    if (problem === null)
      compile(
        selector,
        optionsFor(() => {}),
      );
    return problem;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/**
 * Compiles selectors for one page, which share its steps.
 * @returns a function that makes a matcher; the matcher throws SelectorLimitError where the page takes too many steps
 */
export function selectorsOfPage(): (selector: string) => Matcher {
  let left = MOST_STEPS;
  const options = optionsFor((steps) => {
    left -= steps;
    if (left < 0) throw new SelectorLimitError("The selectors take too long on this page: use simpler ones");
  });
  return (selector) => compile<AnyNode, PageElement>(selector, options);
}

/** All elements below the node that match, in document order. */
export function findAll(node: AnyNode, matches: Matcher): PageElement[] {
  const found: PageElement[] = [];
  const visit = (parent: AnyNode): void => {
    for (const child of childrenOf(parent)) {
      if (!isElement(child)) continue;
      if (matches(child)) found.push(child);
      visit(child);
    }
  };
  visit(node);
  return found;
}

/** @param relative whether it may begin with a combinator */
function unusable(alternatives: readonly (readonly Selector[])[], relative = false): string | null {
  if (alternatives.length === 0) return "it is empty";
  for (const tokens of alternatives) {
    const [first, last] = [tokens[0], tokens.at(-1)];
    if (first === undefined || last === undefined) return "it is empty";
    if (isTraversal(last) || (isTraversal(first) && !relative)) return "a combinator stands between two selectors";
  }
  for (const token of alternatives.flat()) {
    if (token.type === SelectorType.PseudoElement) return `::${token.name} is no element of a page`;
    if (token.type === SelectorType.Parent) return "< is no combinator of CSS";
    if (token.type !== SelectorType.Pseudo) continue;
    if (!PSEUDO_CLASSES.has(token.name)) return `:${token.name} is not known of an archived page`;
    const nested = Array.isArray(token.data) ? token.data : nthOf(token.data);
    const problem = nested === null ? null : unusable(nested, token.name === "has");
    if (problem !== null) return problem;
  }
  return null;
}

/** What stands behind `of` in `:nth-child(2n of .item)`. */
function nthOf(data: string | null): Selector[][] | null {
  const of = /\sof\s(.+)$/is.exec(data ?? "")?.[1];
  return of === undefined ? null : parse(of.trim());
}

const isElement = (node: AnyNode): node is PageElement => node instanceof PageElement;
const childrenOf = (node: AnyNode): AnyNode[] => ("children" in node ? node.children : []);

/** @param spend is told of steps through the tree */
function optionsFor(spend: (steps: number) => void): Options<AnyNode, PageElement> {
  return {
    adapter: {
      isTag(node): node is PageElement {
        spend(1);
        return isElement(node);
      },
      getAttributeValue: (element, name) => element.attribs[name],
      hasAttrib: (element, name) => Object.hasOwn(element.attribs, name),
      getName: ({ name }) => name,
      getChildren: childrenOf,
      getParent({ parent }) {
        spend(1);
        return parent;
      },
      getSiblings(node) {
        const siblings = node.parent === null ? [node] : node.parent.children;
        // some of them are searched without a question for each
        spend(siblings.length >> 3);
        return siblings;
      },
      prevElementSibling(node) {
        let { prev } = node;
        while (prev !== null && !isElement(prev)) prev = prev.prev;
        return prev;
      },
      getText: (node) => (isElement(node) ? collapsedText(node) : "data" in node ? node.data : ""),
      removeSubsets: (nodes) => nodes,
    },
  };
}

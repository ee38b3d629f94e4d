/** Finds what stands below an element. */
import { type ChildNode, isText, type Text } from "domhandler";
import { PageElement } from "./page-tree.ts";

/** @returns all texts, and what they say together, trimmed */
export function textsOf(element: PageElement): { texts: Text[]; text: string } {
  const texts: Text[] = [];
  const visit = (node: ChildNode): void => {
    if (isText(node)) texts.push(node);
    else if (node instanceof PageElement) for (const child of node.children) visit(child);
  };
  visit(element);
  return {
    texts,
    text: texts
      .map(({ data }) => data)
      .join("")
      .trim(),
  };
}

/** @returns the outermost elements of a name, in document order */
export function below(element: PageElement, name: string): PageElement[] {
  const found: PageElement[] = [];
  const visit = (node: PageElement): void => {
    for (const child of node.children) {
      if (!(child instanceof PageElement)) continue;
      if (child.name === name) found.push(child);
      else visit(child);
    }
  };
  visit(element);
  return found;
}

/** Adds the elements that every HTML page has, written or not: selectors name them, since browsers show them. */
import { type ChildNode, isText, type ParentNode } from "domhandler";
import { type Page, PageElement } from "./page-tree.ts";

/** Completes `<html>`, `<body>` and, around the rows of tables, `<tbody>`. */
export function completeTree(page: Page): void {
  page.html ??= wrap(page.root, "html", () => true);
  page.body ??= wrap(page.html, "body", ({ name }) => name !== "head");
  completeTables(page.root);
}

/** @param holds which elements the new one is to hold; text between them comes along */
function wrap(parent: ParentNode, name: string, holds: (element: PageElement) => boolean): PageElement {
  const wrapper = new PageElement(name, {});
  const outside = (child: ChildNode) => child instanceof PageElement && !holds(child);
  adopt(
    wrapper,
    parent.children.filter((child) => !outside(child)),
  );
  adopt(parent, [...parent.children.filter(outside), wrapper]);
  return wrapper;
}

function completeTables(parent: ParentNode): void {
  for (const child of parent.children) {
    if (!(child instanceof PageElement)) continue;
    completeTables(child);
    if (child.name === "table" && child.children.some(isRow)) adopt(child, withBodies(child.children));
  }
}

/** Rows that stand together become one body. */
function withBodies(children: readonly ChildNode[]): ChildNode[] {
  const parts: ChildNode[] = [];
  let rows: ChildNode[] = [];
  const flush = (): void => {
    if (rows.some(isRow)) {
      const body = new PageElement("tbody", {});
      adopt(body, rows);
      parts.push(body);
    } else parts.push(...rows);
    rows = [];
  };
  for (const child of children) {
    if (isRow(child) || isText(child)) rows.push(child);
    else {
      flush();
      parts.push(child);
    }
  }
  flush();
  return parts;
}

const isRow = (node: ChildNode): boolean => node instanceof PageElement && node.name === "tr";

function adopt(parent: ParentNode, children: ChildNode[]): void {
  parent.children = children;
  for (const [index, child] of children.entries()) {
    child.parent = parent;
    child.prev = children[index - 1] ?? null;
    child.next = children[index + 1] ?? null;
  }
}

/** The sections of a document as a tree, and one of them with all below it as Markdown. */
import { BOUNDS } from "../extract/bounds.ts";
import type { Section } from "../extract/extraction.ts";
import { ApiError } from "../platform/errors.ts";

export interface SectionNode {
  /** Place in the document, from 0. */
  position: number;
  parent: number | null;
  heading: string | null;
  /** 0 for what stands before the first heading. */
  level: number;
  /** Of the document's text, in UTF-16 code units, without what stands below it. */
  start_char: number;
  end_char: number;
  /** Sections directly below it. */
  children: number;
}

/** Parents before their children, in the order of the text: a tree without nesting, however deep it is. */
export function sectionNodes(sections: readonly Section[]): SectionNode[] {
  const children = new Map<number, number>();
  for (const { parent } of sections) if (parent !== null) children.set(parent, (children.get(parent) ?? 0) + 1);
  return sections.map(({ heading, level, start, end, parent }, position) => ({
    position,
    parent,
    heading,
    level,
    start_char: start,
    end_char: end,
    children: children.get(position) ?? 0,
  }));
}

/**
 * Places of a section and of all below it; they follow one another.
 * @throws ApiError 404 NOT_FOUND
 */
export function subtree(sections: readonly Section[], position: number): [first: number, last: number] {
  if (sections[position] === undefined) {
    const message = `The document has no section ${position}: it has ${sections.length}`;
    throw new ApiError(404, message, { code: "NOT_FOUND" });
  }
  const below = new Set([position]);
  let last = position;
  for (let at = position + 1; at < sections.length; at++) {
    const { parent } = sections[at] as Section;
    if (parent === null || !below.has(parent)) break;
    below.add(at);
    last = at;
  }
  return [position, last];
}

const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const HEADING = /^#{1,6} /;

/**
 * The Markdown of a section and of all below it: its headings are looked for in the document's, where each section but
 * the first begins with one. Where the two do not agree it is made of the texts.
 */
export function sectionMarkdown(
  { content, markdown, sections }: { content: string; markdown: string; sections: readonly Section[] },
  position: number,
): string {
  const [first, last] = subtree(sections, position);
  const starts = headingOffsets(markdown);
  const headed = headedSections(sections);
  if (starts.length === headed.length || areSectionsCut({ markdown, sections })) {
    const startOf = (at: number): number | undefined => {
      const nth = headed.findIndex((each) => each >= at);
      return nth === -1 ? markdown.length : headed[nth] === at ? starts[nth] : at === 0 ? 0 : undefined;
    };
    const [from, to] = [startOf(first), startOf(last + 1)];
    if (from !== undefined && to !== undefined) return markdown.slice(from, to).trim();
  }
  return sections
    .slice(first, last + 1)
    .map(({ heading, level, start, end }) => {
      const text = content.slice(start, end).trim();
      const body = heading !== null && text.startsWith(heading) ? text.slice(heading.length).trim() : text;
      return heading === null ? body : `${"#".repeat(Math.max(1, level))} ${heading}\n\n${body}`;
    })
    .join("\n\n")
    .trim();
}

const headedSections = (sections: readonly Section[]): number[] =>
  sections.flatMap(({ heading }, at) => (heading === null ? [] : [at]));

/** Whether a document has more headings than sections are kept: the last section holds what stands behind it. */
export function areSectionsCut({ markdown, sections }: { markdown: string; sections: readonly Section[] }): boolean {
  if (sections.length < BOUNDS.sections) return false;
  return headingOffsets(markdown).length > headedSections(sections).length;
}

/** Where the lines stand that are headings, those in code left out. */
function headingOffsets(markdown: string): number[] {
  const offsets: number[] = [];
  let fence: string | undefined;
  let offset = 0;
  for (const line of markdown.split("\n")) {
    const marks = FENCE.exec(line)?.[1];
    if (fence !== undefined) {
      const closes = marks?.startsWith(fence) && line.trim() === marks;
      if (closes) fence = undefined;
    } else if (marks !== undefined) fence = marks;
    else if (HEADING.test(line)) offsets.push(offset);
    offset += line.length + 1;
  }
  return offsets;
}

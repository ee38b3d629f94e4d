/** Differences as HTML that is safe to show anywhere: text alone, escaped, in a table. */
import type { Hunk, HunkLine } from "./compare-lines.ts";

export const DIFF_LAYOUTS = ["unified", "side-by-side"] as const;
export type DiffLayout = (typeof DIFF_LAYOUTS)[number];

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (each) => ESCAPES[each] as string);

const CLASSES: Readonly<Record<HunkLine[0], string>> = { "=": "same", "+": "added", "-": "removed", ">": "moved" };

/** The classes are `diff-added`, `diff-removed`, `diff-moved` and `diff-same`. */
export function diffHtml(hunks: readonly Hunk[], layout: DiffLayout): string {
  const bodies = hunks.map((hunk) => {
    const rows = layout === "unified" ? hunk.lines.map(unifiedRow) : sideBySideRows(hunk.lines);
    const where = `<tr class="diff-place"><th colspan="2">${hunk.from} → ${hunk.to}</th></tr>`;
    return `<tbody>${where}${rows.join("")}</tbody>`;
  });
  return `<table class="diff diff-${layout}">${bodies.join("")}</table>`;
}

function unifiedRow([kind, text]: HunkLine): string {
  const mark = kind === "=" ? "" : kind === ">" ? "↷" : kind;
  return `<tr class="diff-${CLASSES[kind]}"><td>${mark}</td><td>${element(kind, text)}</td></tr>`;
}

/** What was removed stands beside what was added in its place. */
function sideBySideRows(lines: readonly HunkLine[]): string[] {
  const rows: string[] = [];
  let [removed, added]: [HunkLine[], HunkLine[]] = [[], []];
  const flush = (): void => {
    for (let i = 0; i < Math.max(removed.length, added.length); i++) {
      rows.push(`<tr>${cell(removed[i])}${cell(added[i])}</tr>`);
    }
    [removed, added] = [[], []];
  };
  for (const line of lines) {
    if (line[0] === "-") removed.push(line);
    else if (line[0] === "+") added.push(line);
    else {
      flush();
      rows.push(`<tr>${line[0] === "=" ? cell(line) : cell(undefined)}${cell(line)}</tr>`);
    }
  }
  flush();
  return rows;
}

const cell = (line: HunkLine | undefined): string =>
  line === undefined ? "<td></td>" : `<td class="diff-${CLASSES[line[0]]}">${element(line[0], line[1])}</td>`;

/** What reads a page aloud tells them apart by the element. */
function element(kind: HunkLine[0], text: string): string {
  const escaped = escapeHtml(text);
  return kind === "+" ? `<ins>${escaped}</ins>` : kind === "-" ? `<del>${escaped}</del>` : escaped;
}

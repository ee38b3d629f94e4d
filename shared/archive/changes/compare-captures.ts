/** What one capture of a page brought, compared with an earlier one. */
import type { Archive } from "../replay/payload.ts";
import { CHANGES_VERSION, compareLines, type Difference } from "./compare-lines.ts";
import { isGood, type PageCapture } from "./link-captures.ts";
import { readPageLines } from "./page-text.ts";

export type ChangeKind = "new_page" | "updated" | "unchanged" | "error";

export interface Change {
  kind: ChangeKind;
  summary: string;
  highNoise: boolean;
  /** null where nothing was compared. */
  difference: Difference | null;
  version: number;
}

export async function compareCaptures(archive: Archive, from: PageCapture | null, to: PageCapture): Promise<Change> {
  if (!isGood(to)) return faultChange(`The server answered ${to.status}`);
  if (from === null) return { ...NOTHING_COMPARED, kind: "new_page", summary: "A new page" };
  if (isSameAnswer(from, to)) return changeOf(SAME, false);
  const rendered = from.isRendered && to.isRendered;
  const before = await readPageLines(archive, from, rendered);
  if ("problem" in before) return faultChange(`The earlier capture could not be read: ${before.problem}`);
  const after = await readPageLines(archive, to, rendered);
  if ("problem" in after) return faultChange(`The capture could not be read: ${after.problem}`);
  return changeOf(compareLines(before, after), from.truncated || to.truncated);
}

const NOTHING_COMPARED = { highNoise: false, difference: null, version: CHANGES_VERSION };

export const faultChange = (summary: string): Change => ({ ...NOTHING_COMPARED, kind: "error", summary });

const SAME = compareLines({ lines: [], sections: [] }, { lines: [], sections: [] });

/** What a browser makes of the same answer may differ. */
function isSameAnswer(from: PageCapture, to: PageCapture): boolean {
  if (from.payloadDigest === null || from.payloadDigest !== to.payloadDigest) return false;
  if (from.isRendered && to.isRendered) return false;
  const isSameCharset = from.charset === null || to.charset === null || from.charset === to.charset;
  return isSameCharset && from.url === to.url && from.truncated === to.truncated;
}

/** @param incomplete whether one of the captures is: what it lacks was not removed */
export function changeOf(difference: Difference, incomplete: boolean): Change {
  const isChanged = difference.addedLines + difference.removedLines > 0;
  return {
    kind: isChanged ? "updated" : "unchanged",
    summary: isChanged ? summaryOf(difference, incomplete) : "Unchanged",
    highNoise: difference.highNoise || (isChanged && incomplete),
    difference,
    version: CHANGES_VERSION,
  };
}

function summaryOf(difference: Difference, incomplete: boolean): string {
  const { addedSections, removedSections, changedSections, addedLines, removedLines } = difference;
  const sections = [
    counted(changedSections, "section changed", "sections changed"),
    counted(addedSections, "section added", "sections added"),
    counted(removedSections, "section removed", "sections removed"),
  ];
  const lines = [
    counted(addedLines, "line added", "lines added"),
    counted(removedLines, "line removed", "lines removed"),
  ];
  const parts = [...sections, ...lines, incomplete ? "one of the captures is incomplete" : ""];
  return parts.filter((part) => part !== "").join(", ");
}

const counted = (count: number, one: string, many: string): string =>
  count === 0 ? "" : `${count} ${count === 1 ? one : many}`;

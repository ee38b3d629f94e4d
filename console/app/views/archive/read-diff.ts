/**
 * Reads the lines of a difference out of the table that the API gives: as text, for the console makes no markup of
 * what it is given.
 */

export interface DiffLine {
  kind: "added" | "removed" | "moved" | "same" | "place";
  text: string;
}

const ROW = /<tr class="diff-(added|removed|moved|same|place)">(.*?)<\/tr>/gs;

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };

/** @param table `diffHtml` with the layout `unified`: rows with a mark and a text, whose own markup is escaped */
export function readDiff(table: string): DiffLine[] {
  return [...table.matchAll(ROW)].map(([, kind, row = ""]) => {
    const cell = kind === "place" ? row : row.replace(/^<td>.*?<\/td>/s, "");
    return { kind: kind as DiffLine["kind"], text: decode(cell.replace(/<[^>]*>/g, "")) };
  });
}

const decode = (text: string): string =>
  text.replace(/&(amp|lt|gt|quot|#39);/g, (whole, name: string) => ENTITIES[name] ?? whole);

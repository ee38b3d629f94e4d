/** Writes data tables as GFM rows, with row and column spans expanded. */
import { PageElement } from "../parse/page-tree.ts";

const MAX_COLUMNS = 200;
/** Characters that repeating spanned cells may add, beyond what the table itself has. */
const MAX_REPETITION = 200_000;

interface Row {
  cells: string[];
  header: boolean;
}

/**
 * Writes a table as lines of GFM, header and delimiter first.
 * @returns no line for a table without cells
 */
export function tableRows(table: PageElement, renderCell: (cell: PageElement) => string): string[] {
  const rows = expandSpans(table, renderCell).filter(({ cells }) => cells.some((cell) => cell !== ""));
  const columns = rows.reduce((widest, { cells }) => Math.max(widest, cells.length), 0);
  if (columns === 0) return [];
  const headerRows = rows.findIndex(({ header }) => !header);
  const headers = rows.slice(0, headerRows === -1 ? Math.min(1, rows.length) : headerRows);
  const body = rows.slice(headers.length);
  const header = Array.from({ length: columns }, (_, column) => {
    // GFM has one header row: "2024" above "Q1" becomes "2024 Q1".
    const parts = headers.map(({ cells }) => cells[column] ?? "").filter((part) => part !== "");
    return parts.filter((part, index) => part !== parts[index - 1]).join(" ");
  });
  return [
    line(header, columns),
    line(new Array(columns).fill("---"), columns),
    ...body.map(({ cells }) => line(cells, columns)),
  ];
}

function line(cells: readonly string[], columns: number): string {
  return `| ${Array.from({ length: columns }, (_, column) => cells[column] ?? "").join(" | ")} |`;
}

function expandSpans(table: PageElement, renderCell: (cell: PageElement) => string): Row[] {
  const rows: Row[] = [];
  /** Per column, what a cell above still fills. */
  const open: ({ text: string; rows: number } | undefined)[] = [];
  let repetition = MAX_REPETITION;
  const repeat = (text: string): string => {
    repetition -= text.length;
    return repetition >= 0 ? text : "";
  };
  for (const { row, inHead } of tableRowElements(table)) {
    const cells: string[] = [];
    let headers = 0;
    let own = 0;
    const fillFromAbove = (): void => {
      for (let above = open[cells.length]; above !== undefined && above.rows > 0; above = open[cells.length]) {
        above.rows--;
        cells.push(repeat(above.text));
      }
    };
    for (const cell of row.children) {
      if (!(cell instanceof PageElement) || cell.dropped || (cell.name !== "td" && cell.name !== "th")) continue;
      fillFromAbove();
      if (cells.length >= MAX_COLUMNS) break;
      own++;
      if (cell.name === "th") headers++;
      const text = renderCell(cell);
      const width = span(cell.attribs.colspan, MAX_COLUMNS - cells.length);
      // rowspan="0" reaches to the end of the section; a table has no more rows than characters anyway.
      const below = cell.attribs.rowspan === "0" ? Number.POSITIVE_INFINITY : span(cell.attribs.rowspan, 65_534) - 1;
      for (let offset = 0; offset < width; offset++) {
        open[cells.length] = below > 0 ? { text, rows: below } : undefined;
        cells.push(offset === 0 ? text : repeat(text));
      }
    }
    fillFromAbove();
    rows.push({ cells, header: inHead || (own > 0 && headers === own) });
  }
  return rows;
}

function span(value: string | undefined, most: number): number {
  const parsed = Number.parseInt(value ?? "1", 10);
  return Number.isSafeInteger(parsed) && parsed > 0 ? Math.min(parsed, most) : 1;
}

function tableRowElements(table: PageElement): { row: PageElement; inHead: boolean }[] {
  const rows: { row: PageElement; inHead: boolean }[] = [];
  const collect = (node: PageElement, inHead: boolean): void => {
    for (const child of node.children) {
      if (!(child instanceof PageElement) || child.dropped) continue;
      if (child.name === "tr") rows.push({ row: child, inHead });
      else if (child.name === "thead" || child.name === "tbody" || child.name === "tfoot") {
        collect(child, child.name === "thead");
      }
    }
  };
  collect(table, false);
  return rows;
}

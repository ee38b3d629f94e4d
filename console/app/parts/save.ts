/** Puts what the API gave into a file of the reader's. */

export function saveFile(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // the browser has begun to read it by then
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/** Cells that a spreadsheet would take for a formula are told to be text: titles are written by strangers. */
export function csvLine(cells: readonly (string | number | null | undefined)[]): string {
  return `${cells
    .map((cell) => {
      const text = String(cell ?? "");
      const told = typeof cell === "string" && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
      return /[",\r\n]/.test(told) ? `"${told.replaceAll('"', '""')}"` : told;
    })
    .join(",")}\r\n`;
}

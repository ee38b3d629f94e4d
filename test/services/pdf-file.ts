/** PDF files for tests, as plain as they come. */

/** @param pages the lines of each page, in ASCII */
export function pdfFile(pages: readonly (readonly string[])[], { title = "" }: { title?: string } = {}): Buffer {
  const objects: string[] = [];
  const add = (body: string): number => objects.push(body);
  const font = add("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>");
  const parent = 2 + 2 * pages.length;
  const kids = pages.map((lines) => {
    const shown = lines.map((line) => `(${line.replace(/[()]/g, "\\$&")}) Tj T*`).join("\n");
    const content = `BT /F1 12 Tf 14 TL 50 750 Td\n${shown}\nET`;
    const stream = add(`<< /Length ${content.length} >>\nstream\n${content}\nendstream`);
    const page = `/MediaBox [0 0 612 792] /Resources << /Font << /F1 ${font} 0 R >> >> /Contents ${stream} 0 R`;
    return add(`<< /Type /Page /Parent ${parent} 0 R ${page} >>`);
  });
  add(`<< /Type /Pages /Kids [${kids.map((kid) => `${kid} 0 R`).join(" ")}] /Count ${kids.length} >>`);
  const root = add(`<< /Type /Catalog /Pages ${parent} 0 R >>`);
  const info = add(`<< /Title (${title}) >>`);
  return pdfOf(objects, `/Root ${root} 0 R /Info ${info} 0 R`);
}

/** @param objects numbered from 1 on; `stream` data in latin1 */
export function pdfOf(objects: readonly string[], trailer: string): Buffer {
  let text = "%PDF-1.4\n";
  const offsets = objects.map((body, index) => {
    const offset = text.length;
    text += `${index + 1} 0 obj\n${body}\nendobj\n`;
    return offset;
  });
  const start = text.length;
  const entries = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("");
  text += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${entries}`;
  text += `trailer\n<< /Size ${objects.length + 1} ${trailer} >>\nstartxref\n${start}\n%%EOF\n`;
  return Buffer.from(text, "latin1");
}

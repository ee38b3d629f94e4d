/** The thread that reads one PDF: it posts the title, then the text of each page as it is read. */
import { parentPort, workerData } from "node:worker_threads";
import { getDocumentProxy, getMeta } from "unpdf";
import type { PdfInput, PdfPart } from "./read-pdf.ts";

const { bytes, maxPages } = workerData as PdfInput;
const post = (part: PdfPart): void => parentPort?.postMessage(part);

// no function is made of what a file holds, no font is looked for, and nothing is asked for
const options = { isEvalSupported: false, useSystemFonts: false, disableFontFace: true, stopAtErrors: false };
const pdf = await getDocumentProxy(bytes, options).catch((error: unknown) => {
  if (!(error instanceof Error && error.name === "PasswordException")) throw error;
  post({ encrypted: true });
  process.exit();
});
const { info } = await getMeta(pdf).catch(() => ({ info: {} as Record<string, unknown> }));
const title = info["Title"];
post({ title: typeof title === "string" && title.trim() !== "" ? title.trim() : null, pages: pdf.numPages });
for (let number = 1; number <= Math.min(pdf.numPages, maxPages); number += 1) {
  const page = await pdf.getPage(number);
  const { items } = await page.getTextContent();
  const text = items.map((item) => ("str" in item ? item.str + (item.hasEOL ? "\n" : "") : "")).join("");
  post({ page: number, text });
  page.cleanup();
}
post({ end: true });

/** The thread that reads one DOCX: it posts its HTML, or that it is none. */
import { parentPort, workerData } from "node:worker_threads";
import mammoth from "mammoth";
import type { DocxInput, DocxPart } from "./read-docx.ts";

const { bytes } = workerData as DocxInput;
const post = (part: DocxPart): void => parentPort?.postMessage(part);

/** Pictures are left out: only their descriptions are text. */
const convertImage = mammoth.images.imgElement(async () => ({ src: "" }));

try {
  const options = { convertImage, externalFileAccess: false };
  const { value } = await mammoth.convertToHtml({ buffer: Buffer.from(bytes) }, options);
  post({ html: value });
} catch (error) {
  post({ unread: error instanceof Error ? error.message : String(error) });
}

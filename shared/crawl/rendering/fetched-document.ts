/** A captured page as the browser gets it. */
import type { Capture } from "../../capture/capture.ts";
import type { FetchedDocument } from "../../render/renderer.ts";

/** @param text decoded body of the response */
export function fetchedDocument(
  { finalUrl: url, status, headers, mimeType }: Pick<Capture, "finalUrl" | "status" | "headers" | "mimeType">,
  text: string,
): FetchedDocument {
  return { url, status, headers, mimeType: mimeType ?? "text/html", text };
}

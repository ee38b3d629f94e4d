/** Reads an open page: whether it is ready, and its DOM. */

import { COPY_SHADOW_ROOTS, LARGEST_DOM, SHOWS_TEXT } from "../page-scripts.ts";
import { RenderError } from "../renderer.ts";
import type { OpenPage } from "./page.ts";

const LOOK_EVERY_MS = 100;
/** For one look into the page, while its own scripts may be busy. */
const LOOK_TIMEOUT_MS = 2_000;
const READ_TIMEOUT_MS = 5_000;

/**
 * Waits until something matches the selector.
 * @returns what went wrong, or null
 */
export async function waitForSelector(open: OpenPage, selector: string, deadline: number): Promise<RenderError | null> {
  const expression =
    `(() => { try { return document.querySelector(${JSON.stringify(selector)}) !== null } catch (e) { ` +
    "return e.message } })()";
  for (;;) {
    const found = await open.evaluate<boolean | string>(expression, LOOK_TIMEOUT_MS).catch(() => false);
    if (found === true) return null;
    if (typeof found === "string") return new RenderError("WAIT_FOR_INVALID", `wait_for is no CSS selector: ${found}`);
    if (Date.now() + LOOK_EVERY_MS >= deadline) {
      return new RenderError("WAIT_FOR_TIMEOUT", `Nothing matched wait_for (${selector}) in time`);
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

/**
 * Waits until the page shows some text, and more than that it loads: a timer may fill what asks for nothing any more.
 */
export async function waitForText(open: OpenPage, deadline: number): Promise<void> {
  while (Date.now() + LOOK_EVERY_MS < deadline && open.navigations.length === 0) {
    if (await open.evaluate<boolean>(SHOWS_TEXT, LOOK_TIMEOUT_MS).catch(() => false)) return;
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

/** The DOM as HTML. What lies in open shadow roots is copied into their hosts, where readers of HTML find it. */
export async function readDom(open: OpenPage): Promise<string> {
  const html = await open.evaluate<string | null>(`(${serialise})(${LARGEST_DOM})`, READ_TIMEOUT_MS);
  if (html === null) throw new RenderError("RENDER_TOO_LARGE", `The DOM is over ${LARGEST_DOM} characters`);
  return html;
}

/** Runs inside the page. */
const serialise = `function (largest) {
  ${COPY_SHADOW_ROOTS}
  const type = document.doctype ? new XMLSerializer().serializeToString(document.doctype) + "\\n" : "";
  const html = document.documentElement ? document.documentElement.outerHTML : "";
  return html.length > largest ? null : type + html;
}`;

/** Renders pages with the container's Chromium. */
import { LONGEST_SILENCE_MS } from "../page-scripts.ts";
import { RenderError, type Renderer } from "../renderer.ts";
import { act } from "./actions.ts";
import type { Chromium } from "./browser.ts";
import { readDom, waitForSelector, waitForText } from "./page-content.ts";

/** Kept of a page's time for reading its DOM and closing it. */
const CLOSING_MS = 2_000;

/** Makes the renderer on top of the container's browser. */
export function createChromiumRenderer(chromium: Chromium): Renderer {
  return {
    name: "chromium",
    asksAgain: false,
    async render(document, { waitFor, timeoutMs, actions = [], ...asked }) {
      const deadline = Date.now() + Math.max(timeoutMs / 2, timeoutMs - CLOSING_MS);
      const options = { ...asked, purpose: "text", timeoutMs } as const;
      return await chromium.withPage(document, options, async (open) => {
        const done = await open.loaded(deadline);
        if (waitFor === undefined) await waitForText(open, Math.min(deadline, Date.now() + LONGEST_SILENCE_MS));
        const missing = waitFor === undefined ? null : await waitForSelector(open, waitFor, deadline);
        const failed = missing ?? (await act(open, actions, deadline));
        const late = done ? null : new RenderError("RENDER_TIMEOUT", "The page did not finish loading in time");
        return { html: await readDom(open), navigations: [...open.navigations], shortcoming: failed ?? late };
      });
    },
  };
}

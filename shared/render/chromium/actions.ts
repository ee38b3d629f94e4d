/**
 * Acts on an open page as its reader would, one action after the other; what it asks for is guarded like all it asks.
 */
import type { ElementHandle } from "puppeteer-core";
import { type PageAction, RenderError } from "../renderer.ts";
import type { OpenPage } from "./page.ts";

/** For one action, the wait for its element included. */
const LONGEST_ACTION_MS = 10_000;
/** For what the last action has set off. */
const SETTLE_MS = 5_000;
const MOMENT_MS = 150;
const LONGEST_REASON = 200;

/**
 * Ends with the first action that fails: those after it count on what it was to do.
 * @param deadline epoch ms
 * @returns what went wrong, or null
 */
export async function act(
  open: OpenPage,
  actions: readonly PageAction[],
  deadline: number,
): Promise<RenderError | null> {
  for (const [index, action] of actions.entries()) {
    const left = Math.min(deadline - Date.now(), LONGEST_ACTION_MS);
    try {
      if (left <= 0) throw new Error("the time of the page was up");
      await within(left, perform(open, action, left));
    } catch (error) {
      if (!open.page.isClosed()) return failed(index, action, error);
      throw error;
    }
  }
  if (actions.length > 0) await open.loaded(Math.min(deadline, Date.now() + SETTLE_MS));
  return null;
}

async function perform(open: OpenPage, action: PageAction, timeout: number): Promise<void> {
  switch (action.type) {
    case "wait":
      return await pause(action.milliseconds);
    case "wait_for":
      return await (await shown(open, action.selector, timeout, false)).dispose();
    case "click": {
      const element = await shown(open, action.selector, timeout, true);
      await element.click();
      return await pause(MOMENT_MS);
    }
    case "type": {
      const element = await shown(open, action.selector, timeout, true);
      return await element.type(action.text);
    }
    case "scroll": {
      const { pixels } = action;
      const to = pixels === undefined ? "scrollTo(0, document.documentElement.scrollHeight)" : `scrollBy(0, ${pixels})`;
      await open.evaluate(`window.${to}`, timeout);
      return await pause(MOMENT_MS);
    }
  }
}

async function shown(open: OpenPage, selector: string, timeout: number, visible: boolean): Promise<ElementHandle> {
  const element = await open.page.waitForSelector(selector, { visible, timeout });
  if (element === null) throw new Error("nothing matches");
  return element;
}

function failed(index: number, { type }: PageAction, error: unknown): RenderError {
  const isLate = error instanceof Error && error.name === "TimeoutError";
  const why = isLate
    ? "nothing that matches was shown in time"
    : error instanceof Error
      ? error.message
      : String(error);
  return new RenderError("ACTION_FAILED", `actions[${index}] (${type}): ${why.slice(0, LONGEST_REASON)}`, {
    cause: error,
  });
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** A page whose own scripts never rest answers nobody. */
async function within(ms: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("the page did not answer in time")), ms + MOMENT_MS);
  });
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
    work.catch(() => undefined);
  }
}

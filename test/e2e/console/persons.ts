/** A person at the console, with a mouse or with the keyboard alone: both find things by their names. */
import type { ElementHandle, Page } from "puppeteer-core";
import { expect } from "vitest";

export interface Person {
  /** Fills in the field with this label. */
  fill(label: string, text: string): Promise<void>;
  /** Presses the button, or follows the link, with this name. */
  press(name: string): Promise<void>;
}

/** Selects by accessible name and role, as a screen reader tells them. */
const named = (name: string, role: string): string => `::-p-aria([name="${name}"][role="${role}"])`;

export const mousePerson = (page: Page): Person => ({
  async fill(label, text) {
    const field = await fieldOf(page, label);
    await field.click({ count: 3 });
    await field.type(text);
  },
  async press(name) {
    await (await pressable(page, name)).click();
  },
});

/** Reaches everything by the Tab key. */
export const keyboardPerson = (page: Page): Person => ({
  async fill(label, text) {
    await tabTo(page, await fieldOf(page, label));
    await selectAll(page);
    await page.keyboard.type(text);
  },
  async press(name) {
    await tabTo(page, await pressable(page, name));
    await page.keyboard.press("Enter");
  },
});

async function fieldOf(page: Page, label: string): Promise<ElementHandle> {
  return await found(
    page,
    ["textbox", "searchbox", "combobox"].map((role) => named(label, role)),
  );
}

async function pressable(page: Page, name: string): Promise<ElementHandle> {
  return await found(
    page,
    ["link", "button"].map((role) => named(name, role)),
  );
}

async function found(page: Page, selectors: readonly string[]): Promise<ElementHandle> {
  let element: ElementHandle | null = null;
  await expect
    .poll(
      async () => {
        for (const selector of selectors) element ??= await page.$(selector);
        return element;
      },
      { message: `nothing is named so: ${selectors.join(" or ")}` },
    )
    .not.toBeNull();
  if (element === null) throw new Error("found and lost");
  return element;
}

const MOST_TABS = 200;

async function tabTo(page: Page, element: ElementHandle): Promise<void> {
  for (let tabs = 0; tabs < MOST_TABS; tabs += 1) {
    const active = await page.evaluateHandle("document.activeElement");
    if (await page.evaluate((one, other) => one === other, element, active)) return;
    await page.keyboard.press("Tab");
  }
  throw new Error("The Tab key does not lead there");
}

async function selectAll(page: Page): Promise<void> {
  await page.keyboard.down("Control");
  await page.keyboard.press("a");
  await page.keyboard.up("Control");
}

/** A person at the console, with a mouse or with the keyboard alone: both find things by their names. */
import type { ElementHandle, Page } from "puppeteer-core";
import { expect } from "vitest";

export interface Person {
  /** Fills in the field with this label. */
  fill(label: string, text: string): Promise<void>;
  /** Takes the option after the one that is chosen in the list with this label. */
  chooseNext(label: string): Promise<void>;
  /** Presses the button, or follows the link, with this name. */
  press(name: string): Promise<void>;
}

/** Selects by accessible name and role, as a screen reader tells them. */
const named = (name: string, role: string): string => `::-p-aria([name="${name}"][role="${role}"])`;

export const mousePerson = (page: Page): Person => ({
  async fill(label, text) {
    const field = await fieldOf(page, label);
    // a list above that comes meanwhile moves it away from under the pointer: somebody who sees that clicks again
    await expect
      .poll(async () => {
        await field.click({ count: 3 });
        return await field.evaluate((element) => element.matches(":focus"));
      })
      .toBe(true);
    await field.type(text);
  },
  async chooseNext(label) {
    const list = await fieldOf(page, label);
    const next = await list.evaluate((element) => {
      const { options, selectedIndex } = element as unknown as { options: { value: string }[]; selectedIndex: number };
      return options[selectedIndex + 1]?.value;
    });
    await list.select(next ?? "");
  },
  async press(name) {
    const element = await pressable(page, name);
    // what is still on its way would move the button away from under the pointer
    await expect.poll(() => page.$$eval("main p[role=status]", awaitedAmong)).toBe(0);
    await element.click();
  },
});

const awaitedAmong = (said: { textContent: string | null }[]): number =>
  said.filter(({ textContent }) => textContent === "Loading…").length;

/** Reaches everything by the Tab key. */
export const keyboardPerson = (page: Page): Person => ({
  async fill(label, text) {
    await tabTo(page, await fieldOf(page, label));
    await selectAll(page);
    await page.keyboard.type(text);
  },
  async chooseNext(label) {
    await tabTo(page, await fieldOf(page, label));
    await page.keyboard.press("ArrowDown");
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

/** Opens hostile pages with pictures and frames allowed, so that nothing but the guard keeps them in. */
import { setTimeout as delay } from "node:timers/promises";
import type { Chromium } from "../../../../shared/render/chromium/browser.ts";
import { documentOf } from "./browser.ts";

const SHOWN = `(document.querySelector("#out") ?? document.documentElement).textContent`;

export interface PageOpener {
  /** @returns what the page's scripts said, or else what it shows */
  open(html: string, timeoutMs?: number): Promise<string>;
  /** As `open`, once the page shows all of it; what it shows last where it never does. */
  opensTo(html: string, ...shown: string[]): Promise<string>;
}

/** @param inside host and port of a service that pages may not reach; `INSIDE` in their HTML */
export function openerOf(chromium: Chromium, origin: string, inside: string): PageOpener {
  const documentWith = (html: string) => documentOf(`${origin}/page`, html.replaceAll("INSIDE", inside));
  return {
    open(html, timeoutMs = 15_000) {
      const options = { purpose: "picture", headers: {}, timeoutMs } as const;
      return chromium.withPage(documentWith(html), options, async (page) => {
        await page.loaded(Date.now() + Math.min(6_000, timeoutMs / 2));
        return await page.evaluate<string>(SHOWN, 2_000);
      });
    },
    opensTo(html, ...shown) {
      const options = { purpose: "picture", headers: {}, timeoutMs: 50_000 } as const;
      return chromium.withPage(documentWith(html), options, async (page) => {
        const until = Date.now() + 20_000;
        for (;;) {
          const text = await page.evaluate<string>(SHOWN, 10_000);
          if (shown.every((part) => text.includes(part)) || Date.now() > until) return text;
          await delay(20);
        }
      });
    },
  };
}

/** The script says what it got into the page. */
export const scripted = (body: string): string =>
  `<p id="out"></p><script>const say = (text) => { document.querySelector("#out").textContent += "[" + text + "]" };${body}</script>`;

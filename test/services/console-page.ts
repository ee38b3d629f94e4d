/** A whole Strandline, and a browser in which a person opens its console. */
import type { Browser, Page } from "puppeteer-core";
import { type Instance, startInstance } from "./instance.ts";
import { type TrappedBrowser, trappedBrowser } from "./trapped-browser.ts";

export interface ConsoleSetup extends TrappedBrowser {
  instance: Instance;
  /** @param url where the console is, if it is not the instance's own address */
  open(options?: Partial<Look>, url?: string): Promise<ConsolePage>;
}

export interface Look {
  width: number;
  scheme: "light" | "dark";
}

export interface ConsolePage {
  page: Page;
  /** Every URL that the console asked for, without what its frame of replay asks for. */
  asked: string[];
  /** Bytes of script that came, as they were sent. */
  scriptBytes(): number;
  /** What the policy has refused, and what a script has complained of. */
  complaints: string[];
  close(): Promise<void>;
}

/** Opens a view, as with an address that somebody kept. */
export async function openView({ page }: ConsolePage, apiKey: string, address: string): Promise<void> {
  await page.evaluate(`sessionStorage.setItem("strandline.key", ${JSON.stringify(apiKey)})`);
  await page.evaluate(`location.hash = ${JSON.stringify(address)}`);
  await page.reload({ waitUntil: "networkidle2" });
  await page.waitForSelector("#view h1");
}

export async function consoleSetup(env: Record<string, string> = {}): Promise<ConsoleSetup> {
  const instance = await startInstance({
    env: { ACCESS__ALLOW_HOSTS: "127.0.0.1", RATE_LIMIT__DEFAULT_RPS: "100", RATE_LIMIT__API_RPM: "100000", ...env },
  });
  const { browser, trapped, close: closeBrowser } = await trappedBrowser();
  return {
    instance,
    browser,
    trapped,
    open: (look, url = instance.url) => openConsole(browser, url, look),
    async close() {
      await closeBrowser();
      await instance.stop();
    },
  };
}

/** Of the console itself: what replay refuses its pages is as it should be. */
const TELL_REFUSALS = `if (top === self) {
  addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) =>
    complain(violatedDirective + " " + blockedURI));
  addEventListener("error", ({ message }) => complain(message));
  addEventListener("unhandledrejection", ({ reason }) => complain(String(reason)));
}`;

async function openConsole(
  browser: Browser,
  url: string,
  { width = 1440, scheme = "light" }: Partial<Look> = {},
): Promise<ConsolePage> {
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  const asked: string[] = [];
  const complaints: string[] = [];
  let scripts = 0;
  page.on("request", (request) => {
    if (request.frame() === page.mainFrame()) asked.push(request.url());
  });
  page.on("response", (response) => {
    const isScript = /^text\/javascript/.test(response.headers()["content-type"] ?? "");
    if (isScript && response.url().startsWith(`${url}/`)) scripts += Number(response.headers()["content-length"]);
  });
  page.on("dialog", (dialog) => {
    complaints.push(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.exposeFunction("complain", (text: string) => complaints.push(text));
  await page.evaluateOnNewDocument(TELL_REFUSALS);
  await page.setViewport({ width, height: 900 });
  await page.emulateMediaFeatures([
    { name: "prefers-color-scheme", value: scheme },
    { name: "prefers-reduced-motion", value: "reduce" },
  ]);
  await page.goto(`${url}/console/`, { waitUntil: "networkidle0" });
  return { page, asked, complaints, scriptBytes: () => scripts, close: () => context.close() };
}

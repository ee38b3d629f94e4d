/** A browser for which every name but this machine's leads into a trap. */
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { type Browser, launch } from "puppeteer-core";
import { chromiumBinary } from "../../shared/render/chromium/binary.ts";

export interface TrappedBrowser {
  browser: Browser;
  /** What came to where every name but this machine's leads. */
  trapped: string[];
  close(): Promise<void>;
}

export async function trappedBrowser(): Promise<TrappedBrowser> {
  const trapped: string[] = [];
  const trap = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", (bytes) => {
      trapped.push(bytes.toString("latin1", 0, 200));
      socket.destroy();
    });
  }).listen(0, "127.0.0.1");
  await once(trap, "listening");
  const { executable, env } = await chromiumBinary("");
  const browser = await launch({
    executablePath: executable,
    headless: "shell",
    pipe: true,
    env: { ...process.env, ...env },
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-background-networking",
      "--disable-component-update",
      `--host-resolver-rules=MAP * 127.0.0.1:${(trap.address() as AddressInfo).port}, EXCLUDE 127.0.0.1`,
    ],
  });
  return {
    browser,
    trapped,
    async close() {
      await browser.close();
      trap.close();
    },
  };
}

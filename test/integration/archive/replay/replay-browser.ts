/** A browser for which every name but this machine's leads into a trap, the port of replay, and that of the API. */
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { type Browser, type Frame, launch, type Page } from "puppeteer-core";
import { TOPOLOGY } from "../../../../infra/topology.ts";
import { type HttpGateway, startHttpGateway } from "../../../../local/gateway/http-gateway.ts";
import { chromiumBinary } from "../../../../shared/render/chromium/binary.ts";
import { type ArchiveSetup, archiveSetup } from "../archive-setup.ts";
import { type ReplayServer, startReplayServer } from "./replay-server.ts";

export interface ReplayBrowser {
  setup: ArchiveSetup;
  server: ReplayServer;
  api: HttpGateway;
  browser: Browser;
  page: Page;
  /** What came to where every name but this machine's leads. */
  trapped: string[];
  /** What the API was asked for, whatever it answered. */
  asked: string[];
  close(): Promise<void>;
}

/** With these records in the archive. */
export async function replayBrowser(records: readonly Buffer[]): Promise<ReplayBrowser> {
  const setup = await archiveSetup();
  await setup.importRecords(records);
  const server = await startReplayServer();
  const trapped: string[] = [];
  const asked: string[] = [];
  const api = await startHttpGateway({
    topology: TOPOLOGY,
    port: 0,
    invoke: async () => ({ statusCode: 200, headers: { "content-type": "application/json" }, body: '{"secret":1}' }),
    own: () => false,
    onRequest: () => {},
    onFault: () => {},
  });
  api.open();
  for (const event of ["request", "upgrade"]) {
    api.server.prependListener(event, ({ method, url }: { method: string; url: string }) =>
      asked.push(`${method} ${url}`),
    );
  }
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
  const page = await browser.newPage();
  return {
    setup,
    server,
    api,
    browser,
    page,
    trapped,
    asked,
    async close() {
      await browser.close();
      trap.close();
      api.destroy();
      api.close();
      server.destroy();
      server.close();
      await setup.close();
    },
  };
}

/** The archived page in a window, inside of ours. */
export function archivedFrame(page: Page): Frame {
  const frame = page.frames().find((each) => each.parentFrame() === page.mainFrame());
  if (frame === undefined) throw new Error("There is no frame with the archived page");
  return frame;
}

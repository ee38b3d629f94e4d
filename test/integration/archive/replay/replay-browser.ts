/** A browser for which every name but this machine's leads into a trap, the port of replay, and that of the API. */
import type { Frame, Page } from "puppeteer-core";
import { TOPOLOGY } from "../../../../infra/topology.ts";
import { type HttpGateway, startHttpGateway } from "../../../../local/gateway/http-gateway.ts";
import { type TrappedBrowser, trappedBrowser } from "../../../services/trapped-browser.ts";
import { type ArchiveSetup, archiveSetup } from "../archive-setup.ts";
import { type ReplayServer, startReplayServer } from "./replay-server.ts";

export interface ReplayBrowser extends TrappedBrowser {
  setup: ArchiveSetup;
  server: ReplayServer;
  api: HttpGateway;
  page: Page;
  /** What the API was asked for, whatever it answered. */
  asked: string[];
}

/** With these records in the archive. */
export async function replayBrowser(records: readonly Buffer[]): Promise<ReplayBrowser> {
  const setup = await archiveSetup();
  await setup.importRecords(records);
  const server = await startReplayServer();
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
  const { browser, trapped, close: closeBrowser } = await trappedBrowser();
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
      await closeBrowser();
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

/** A browser for the tests of one file, and services on loopback that pages may or may not reach. */
import { createSocket, type Socket as UdpSocket } from "node:dgram";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { createUrlGuard } from "../../../../shared/access/url-guard.ts";
import { createLogger } from "../../../../shared/platform/observability/log.ts";
import { type Chromium, createChromium } from "../../../../shared/render/chromium/browser.ts";
import type { FetchedDocument } from "../../../../shared/render/renderer.ts";

export function testChromium(
  allowHosts: readonly string[],
  options: Partial<Parameters<typeof createChromium>[0]> = {},
): Chromium {
  const guard = createUrlGuard({ allowHosts });
  return createChromium({
    guard,
    userAgent: "strandline/test",
    executable: "",
    log: createLogger({}, "error"),
    ...options,
  });
}

export function documentOf(url: string, text: string, headers: [string, string][] = []): FetchedDocument {
  return { url, status: 200, headers, mimeType: "text/html", text };
}

/** Something inside, over TCP and UDP at one port: it takes note of whoever comes. */
export interface InternalService extends AsyncDisposable {
  port: number;
  /** Connections and datagrams so far. */
  visits: string[];
}

export async function internalService(): Promise<InternalService> {
  const visits: string[] = [];
  const tcp = createServer((socket) => {
    visits.push("tcp");
    socket.on("error", () => socket.destroy());
    socket.end("HTTP/1.1 200 OK\r\ncontent-length: 6\r\naccess-control-allow-origin: *\r\n\r\nsecret");
  });
  tcp.listen(0, "127.0.0.1");
  await once(tcp, "listening");
  const { port } = tcp.address() as AddressInfo;
  const udp: UdpSocket = createSocket("udp4");
  udp.on("message", () => visits.push("udp"));
  udp.bind(port, "0.0.0.0");
  await once(udp, "listening");
  return {
    port,
    visits,
    async [Symbol.asyncDispose]() {
      udp.close();
      tcp.close();
      await once(tcp, "close");
    },
  };
}

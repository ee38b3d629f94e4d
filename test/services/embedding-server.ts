/** A server of embeddings, as Text Embeddings Inference documents it: equal texts have equal vectors, at no cost. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

const DIMENSION = 8;

export interface EmbeddingServer {
  /** By which a runtime uses it. */
  env: Record<string, string>;
  close(): void;
}

export async function startEmbeddingServer(): Promise<EmbeddingServer> {
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const vectors =
      request.url === "/embed"
        ? vectorsOf(JSON.parse(Buffer.concat(pieces).toString()) as { inputs: string[]; dimensions?: number })
        : {};
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(vectors));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    env: { EMBEDDER__PROVIDER: "tei", TEI__URL: url, TEI__EMBEDDING_DIMENSION: String(DIMENSION) },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** As long as they are asked to be. */
function vectorsOf({ inputs, dimensions = DIMENSION }: { inputs: string[]; dimensions?: number }): number[][] {
  return inputs.map((text) => unitVector(countsOf(text).slice(0, dimensions)));
}

const unitVector = (numbers: readonly number[]): number[] => numbers.map((number) => number / Math.hypot(...numbers));

/** How often its characters are of each class. */
function countsOf(text: string): number[] {
  const counts = Array.from({ length: DIMENSION }, () => 1);
  for (let at = 0; at < text.length; at += 1) {
    const place = text.charCodeAt(at) % DIMENSION;
    counts[place] = (counts[place] ?? 0) + 1;
  }
  return counts;
}

/** `mcp`: the door for language models, over standard input and output, until whoever opened it leaves. */
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import type { ApiClient } from "../api-client.ts";
import { EXIT } from "../exit.ts";
import { createMcpServer } from "../mcp/server.ts";

export async function serveMcp(api: ApiClient, version: string): Promise<number> {
  const { promise: left, resolve } = Promise.withResolvers<void>();
  process.stdin.once("end", resolve).once("close", resolve);
  const serving = serveStdio(() => createMcpServer(api, version), {
    onerror: (error) => process.stderr.write(`${error.message}\n`),
  });
  await left;
  await serving.close();
  return EXIT.done;
}

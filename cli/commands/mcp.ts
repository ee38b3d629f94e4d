/** `mcp`: the door for language models, over standard input and output, until whoever opened it leaves. */
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { ApiRefusal, type AskApi, createMcpServer } from "../../shared/mcp/server.ts";
import type { ApiClient } from "../api-client.ts";
import { CliError, EXIT } from "../exit.ts";

export async function serveMcp(api: ApiClient, version: string): Promise<number> {
  const { promise: left, resolve } = Promise.withResolvers<void>();
  process.stdin.once("end", resolve).once("close", resolve);
  const serving = serveStdio(() => createMcpServer(refusing(api), version), {
    onerror: (error) => process.stderr.write(`${error.message}\n`),
  });
  await left;
  await serving.close();
  return EXIT.done;
}

/** The client, whose errors models are told as the API's. */
const refusing =
  (api: ApiClient): AskApi =>
  async (method, path, body) => {
    try {
      return await api(method, path, body);
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      throw new ApiRefusal(error.message, { cause: error });
    }
  };

/** Commands that wait for what the API does, over connections that break and answers that cannot be given. */
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type ApiClient, createApiClient } from "../../../cli/api-client.ts";
import { exportWacz } from "../../../cli/commands/export.ts";
import { importWarc } from "../../../cli/commands/import.ts";
import { runOnWarcs } from "../../../cli/commands/warcs.ts";
import type { Terminal } from "../../../cli/terminal.ts";

const ID = "01a21f4a-7c1e-7d37-b6c4-1f2a90c8e5d1";
const DONE = { id: ID, status: "completed", error: null, download: null };
const OF_IMPORT = {
  captures: 1,
  documents: 1,
  danglingRevisits: 0,
  signature: null,
  complaintCount: 0,
  complaints: [],
};

const commands: [string, object, (api: ApiClient, terminal: Terminal, file: string) => Promise<number>, string][] = [
  ["import", OF_IMPORT, (api, terminal, file) => importWarc(api, terminal, file, {}), "1 captures"],
  ["export", { error: "it is over" }, (api, terminal) => exportWacz(api, terminal, ID, {}), "it is over"],
  [
    "consolidate-warcs",
    { counts: { files: 3 }, faultCount: 0, faults: [] },
    (api, terminal) => runOnWarcs(api, terminal, { kind: "consolidate" }, {}),
    "3 files",
  ],
];

test.each(commands)("%s goes on asking where a connection broke or nobody could answer", async (_, done, run, said) => {
  const answers: ((response: ServerResponse) => unknown)[] = [
    ({ socket }) => socket?.resetAndDestroy(),
    (response) => response.writeHead(504).end("{}"),
    (response) => response.end(JSON.stringify({ ...DONE, ...done })),
  ];
  const server = createServer(async (request, response) => {
    await request.resume().toArray();
    if (request.method === "GET") return answers.shift()?.(response);
    const { port } = server.address() as AddressInfo;
    response.end(JSON.stringify({ id: ID, uploadUrl: `http://127.0.0.1:${port}/upload`, headers: {} }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const directory = mkdtempSync(join(tmpdir(), "strandline cli "));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
    rmSync(directory, { recursive: true });
  });
  const file = join(directory, "a.warc");
  writeFileSync(file, "a");
  const lines: string[] = [];
  const terminal = { line: (line: string) => lines.push(line) } as unknown as Terminal;
  const { port } = server.address() as AddressInfo;
  const api = createApiClient({ url: `http://127.0.0.1:${port}`, apiKey: "key" } as Parameters<
    typeof createApiClient
  >[0]);
  await run(api, terminal, file);
  expect(lines.join("\n")).toContain(said);
  expect(answers).toEqual([]);
});

/** The script that saves and restores Qdrant's collections, with a stand-in of Qdrant and of the AWS CLI. */
import { execFile } from "node:child_process";
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";

const SCRIPT = join(import.meta.dirname, "../../../tasks/qdrant/snapshots.sh");
const KEY = "key-of-qdrant";
/** `aws s3 cp FROM TO`, where a bucket is a folder. */
const AWS = `#!/bin/bash
[[ "$1 $2 $3" == "s3 cp --only-show-errors" ]] || exit 64
from="\${4/#s3:\\/\\//$S3/}"; to="\${5/#s3:\\/\\//$S3/}"
mkdir -p "$(dirname "$to")" && cp "$from" "$to"
`;

let folder: string;
let server: Server;
let collections: Record<string, string>;
let taken: Map<string, string>;
let refuses: (url: string) => boolean;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "qdrant snapshots-"));
  await mkdir(join(folder, "bin"));
  await mkdir(join(folder, "tmp"));
  await writeFile(join(folder, "bin", "aws"), AWS);
  await chmod(join(folder, "bin", "aws"), 0o755);
  collections = { "strandline_qwen-0-6b_1024": "points of one", strandline_other_256: "points of two" };
  taken = new Map();
  refuses = () => false;
  server = createServer(async (request, response) => {
    const url = request.url ?? "";
    const body = await text(request);
    if (request.headers["api-key"] !== KEY || refuses(url)) return response.writeHead(403).end();
    const [, name = "", rest = ""] = /^\/collections\/([^/]+)\/snapshots(.*)$/.exec(url) ?? [];
    if (url === "/collections") {
      const result = { collections: Object.keys(collections).map((each) => ({ name: each })) };
      return response.end(JSON.stringify({ result, status: "ok" }));
    }
    if (request.method === "POST" && rest.startsWith("/upload?priority=snapshot")) {
      collections[name] = /\r\n\r\n(.*)\r\n--/s.exec(body)?.[1] ?? "";
      return response.end("{}");
    }
    if (request.method === "POST") {
      taken.set(`${name}-1.snapshot`, collections[name] ?? "");
      return response.end(JSON.stringify({ result: { name: `${name}-1.snapshot`, size: 13 }, status: "ok" }));
    }
    const snapshot = rest.slice(1).replace(/\?.*/, "");
    if (request.method === "DELETE") taken.delete(snapshot);
    return response.end(taken.get(snapshot) ?? "{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterEach(async () => {
  server.close();
  await rm(folder, { recursive: true });
});

const run = (...orders: string[]) =>
  promisify(execFile)("bash", [SCRIPT, ...orders], {
    env: {
      PATH: `${join(folder, "bin")}:${process.env["PATH"]}`,
      S3: join(folder, "s3"),
      TMPDIR: join(folder, "tmp"),
      BUCKET: "archive",
      QDRANT_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      QDRANT_KEY: KEY,
    },
  });
const saved = () => readdir(join(folder, "s3", "archive", "qdrant")).catch(() => []);

test("saves each collection below the time, leaves no snapshot on the server, and brings all of them back", async () => {
  const { stdout } = await run("save");
  const [time = ""] = await saved();
  expect(stdout).toBe(`Saved 2 collection(s) as ${time}\n`);
  expect((await readdir(join(folder, "s3/archive/qdrant", time))).toSorted()).toEqual([
    "complete",
    "strandline_other_256.snapshot",
    "strandline_qwen-0-6b_1024.snapshot",
  ]);
  expect([...taken]).toEqual([]);
  const before = { ...collections };
  collections = {};
  await run("restore", time);
  expect(collections).toEqual(before);
  expect(await readdir(join(folder, "tmp"))).toEqual(["complete"]);
});

test("what was cut off is not taken for whole, neither by who saves nor by who restores", async () => {
  refuses = (url) => url.includes("strandline_other_256-1.snapshot");
  await expect(run("save")).rejects.toMatchObject({ code: 22 });
  const [time = ""] = await saved();
  expect(await readdir(join(folder, "s3/archive/qdrant", time))).not.toContain("complete");
  refuses = () => false;
  await expect(run("restore", time)).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`qdrant/${time}/complete is not in the bucket: choose a folder that has it`),
  });
});

test("a server that refuses its key, or is away, fails the task; one that is empty does not", async () => {
  refuses = () => true;
  await expect(run("save")).rejects.toMatchObject({ stderr: expect.stringContaining("403") });
  refuses = () => false;
  collections = {};
  expect((await run("save")).stdout).toContain("nothing to save");
  expect(await saved()).toEqual([]);
  await expect(run("restore")).rejects.toMatchObject({ stderr: expect.stringContaining("takes the folder") });
  await expect(run()).rejects.toMatchObject({ code: 2 });
});

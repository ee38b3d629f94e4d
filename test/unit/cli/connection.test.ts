import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { findConnection } from "../../../cli/connection.ts";
import { EXIT } from "../../../cli/exit.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "cli connection "));
  mkdirSync(join(folder, "project/.strandline"), { recursive: true });
  mkdirSync(join(folder, "project/deep/down"), { recursive: true });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const store = (content: unknown) =>
  writeFileSync(
    join(folder, "project/.strandline/credentials.json"),
    typeof content === "string" ? content : JSON.stringify(content),
  );
const below = () => join(folder, "project/deep/down");

it("finds the credentials of the nearest folder above", async () => {
  store({ api_url: "http://127.0.0.1:9000", api_key: "sl_stored" });
  expect(await findConnection({}, {}, below())).toEqual({ url: "http://127.0.0.1:9000", apiKey: "sl_stored" });
});

it("looks in STRANDLINE_HOME where that is set", async () => {
  store({ api_url: "http://127.0.0.1:9000", api_key: "sl_stored" });
  const env = { STRANDLINE_HOME: join(folder, "project/.strandline") };
  expect(await findConnection({}, env, tmpdir())).toMatchObject({ apiKey: "sl_stored" });
});

it("prefers flags to the environment, and that to the file", async () => {
  store({ api_url: "http://127.0.0.1:9000", api_key: "sl_stored" });
  const env = { STRANDLINE_URL: "http://127.0.0.1:9001/", STRANDLINE_API_KEY: "sl_env" };
  expect(await findConnection({}, env, below())).toEqual({ url: "http://127.0.0.1:9001", apiKey: "sl_env" });
  const flags = { url: "https://api.example/prod/", apiKey: "sl_flag" };
  expect(await findConnection(flags, env, below())).toEqual({ url: "https://api.example/prod", apiKey: "sl_flag" });
});

it("never sends a stored key to another server than the one that made it", async () => {
  store({ api_url: "http://127.0.0.1:9000", api_key: "sl_stored" });
  await expect(findConnection({ url: "http://elsewhere.example" }, {}, below())).rejects.toMatchObject({
    exitCode: EXIT.access,
    message: expect.stringContaining("belongs to http://127.0.0.1:9000"),
  });
  await expect(findConnection({ url: "http://127.0.0.1:9000/" }, {}, below())).resolves.toMatchObject({
    apiKey: "sl_stored",
  });
});

it("names the file whose content is broken", async () => {
  store("{");
  await expect(findConnection({}, {}, below())).rejects.toMatchObject({
    message: expect.stringContaining("credentials.json"),
  });
});

it.each(["localhost:8787", "ftp://a.example", "nonsense"])("refuses the address %s", async (url) => {
  await expect(findConnection({ url, apiKey: "k" }, {}, below())).rejects.toMatchObject({ exitCode: EXIT.usage });
});

it.each(["“sl_quoted”", "sl_two\nsl_lines", "sl_\u{1f30a}"])(
  "a key that no header can hold is no key: %j",
  async (key) => {
    await expect(findConnection({ apiKey: key }, {}, tmpdir())).rejects.toMatchObject({
      exitCode: EXIT.access,
      message: "The API key holds characters that no key has",
    });
  },
);

it("a key is read without the white space around it, as a file has it", async () => {
  const env = { STRANDLINE_URL: "http://a.example", STRANDLINE_API_KEY: " sl_padded\r\n" };
  expect(await findConnection({}, env, tmpdir())).toMatchObject({ apiKey: "sl_padded" });
});

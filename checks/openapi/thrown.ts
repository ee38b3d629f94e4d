/**
 * Reads from the source which errors a route's code reaches: through functions that call each other by name, file by
 * file. What is behind an interface, such as the vector store, is not seen.
 */
import { readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { parseSync } from "oxc-parser";

/** `409 CONFLICT` */
type Thrown = string;

/** What every route has alike, and what containers are built of. */
const ELSEWHERE = /^functions\/adapters\/api\/|^shared\/access\/(authorize|idempotency)\.ts$|\/dependencies\.ts$/;

interface Declared {
  /** Names that its code refers to. */
  names: Set<string>;
  thrown: Set<Thrown>;
  /** Of the routes that it defines: `POST /api/v1/crawl`. */
  routes: string[];
  /** Of a route that it defines with a path that whoever calls it gives. */
  method?: string;
  /** Calls with a path as the first argument. */
  calls: { name: string; path: string }[];
}

interface SourceFile {
  declared: Map<string, Declared>;
  /** By local name. */
  imported: Map<string, { file: string; name: string }>;
}

interface Node {
  type: string;
  [field: string]: unknown;
}

export class ThrownErrors {
  readonly #root: string;
  readonly #files = new Map<string, SourceFile>();

  constructor(root: string) {
    this.#root = root;
  }

  /**
   * @returns by route what its code reaches, sorted; for the routes that a file defines with method and path as
   * literals, or makes by a function that takes the path first
   */
  ofRoutesIn(path: string): Map<string, Thrown[]> {
    const routes = new Map<string, Thrown[]>();
    const { declared, imported } = this.#read(path);
    for (const [name, { routes: names, calls }] of declared) {
      for (const route of names) routes.set(route, this.#reachedBy(path, name));
      for (const call of calls) {
        const from = imported.get(call.name) ?? { file: path, name: call.name };
        const { method } = this.#read(from.file).declared.get(from.name) ?? {};
        if (method !== undefined) routes.set(`${method} ${call.path}`, this.#reachedBy(from.file, from.name));
      }
    }
    return routes;
  }

  #reachedBy(path: string, name: string): Thrown[] {
    const found = new Set<Thrown>();
    this.#collect(path, name, found, new Set());
    return [...found].toSorted();
  }

  #collect(path: string, name: string, found: Set<Thrown>, seen: Set<string>): void {
    const key = `${path} ${name}`;
    if (seen.has(key) || ELSEWHERE.test(path)) return;
    seen.add(key);
    const { declared, imported } = this.#read(path);
    const own = declared.get(name);
    if (own === undefined) {
      const from = imported.get(name);
      if (from) this.#collect(from.file, from.name, found, seen);
      return;
    }
    for (const each of own.thrown) found.add(each);
    for (const each of own.names) this.#collect(path, each, found, seen);
  }

  #read(path: string): SourceFile {
    const known = this.#files.get(path);
    if (known) return known;
    const file = readSource(path, readFileSync(join(this.#root, path), "utf8"));
    this.#files.set(path, file);
    return file;
  }
}

function readSource(path: string, source: string): SourceFile {
  const { program } = parseSync(path, source);
  const file: SourceFile = { declared: new Map(), imported: new Map() };
  for (const statement of program.body as unknown as Node[]) {
    const declaration = (statement["declaration"] ?? statement) as Node;
    const from = (statement["source"] as Node | undefined | null)?.["value"];
    if (typeof from === "string") {
      if (!from.startsWith(".")) continue;
      const target = posix.normalize(posix.join(posix.dirname(path), from));
      for (const each of (statement["specifiers"] ?? []) as Node[]) {
        const local = nameOf(each["local"]);
        const isExport = each.type === "ExportSpecifier";
        const outer = isExport ? nameOf(each["exported"]) : local;
        file.imported.set(outer, { file: target, name: isExport ? local : nameOf(each["imported"]) });
      }
    } else if (declaration.type === "VariableDeclaration") {
      for (const each of declaration["declarations"] as Node[]) file.declared.set(nameOf(each["id"]), declaredBy(each));
    } else if (declaration.type === "FunctionDeclaration" || declaration.type === "ClassDeclaration") {
      file.declared.set(nameOf(declaration["id"]), declaredBy(declaration));
    }
  }
  return file;
}

const nameOf = (node: unknown): string => String((node as Node | null)?.["name"] ?? (node as Node | null)?.["value"]);

function declaredBy(declaration: Node): Declared {
  const found: Declared = { names: new Set(), thrown: new Set(), routes: [], calls: [] };
  const own = new Set<string>();
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) for (const each of value) visit(each);
    if (typeof value !== "object" || value === null || Array.isArray(value)) return;
    const node = value as Node;
    if (node.type?.startsWith("TS") && !node.type.endsWith("Expression")) return;
    if (node.type === "Identifier") found.names.add(nameOf(node));
    if (node !== declaration && node.type === "VariableDeclarator") bound(node["id"], own);
    if (node.type?.includes("Function")) bound(node["params"], own);
    if (node.type === "NewExpression" && nameOf(node["callee"]) === "ApiError") {
      for (const each of thrownBy(node["arguments"] as Node[])) found.thrown.add(each);
    }
    if (node.type === "ObjectExpression") noteRoute(node, found);
    if (node.type === "CallExpression") {
      const [path] = literals((node["arguments"] as Node[])[0]);
      if (isPath(path)) found.calls.push({ name: nameOf(node["callee"]), path });
    }
    for (const [name, part] of Object.entries(node)) {
      const isName = (name === "property" || name === "key") && node["computed"] !== true;
      if (!isName) visit(part);
    }
  };
  visit(declaration);
  for (const name of own) found.names.delete(name);
  return found;
}

const METHODS = ["GET", "HEAD", "POST", "PUT", "DELETE"];
const isPath = (value: unknown): value is string => typeof value === "string" && value.startsWith("/");

/** What may be the description of a route. */
function noteRoute(node: Node, found: Declared): void {
  const [method] = literals(field(node, "method"));
  if (typeof method !== "string" || !METHODS.includes(method) || field(node, "path") === undefined) return;
  const [path] = literals(field(node, "path"));
  if (isPath(path)) found.routes.push(`${method} ${path}`);
  else found.method = method;
}

/** Adds the names that a pattern binds. */
function bound(pattern: unknown, names: Set<string>): void {
  if (Array.isArray(pattern)) for (const each of pattern) bound(each, names);
  if (typeof pattern !== "object" || pattern === null || Array.isArray(pattern)) return;
  const node = pattern as Node;
  if (node.type === "Identifier") names.add(nameOf(node));
  else for (const part of ["properties", "value", "elements", "left", "argument"]) bound(node[part], names);
}

function thrownBy([status, , options]: readonly Node[]): Thrown[] {
  const codes = literals(field(options, "code"));
  const statuses = literals(status);
  // of both as conditions of one kind, each status has its code
  if (statuses.length === codes.length) return codes.map((code, at) => `${statuses[at]} ${code}`);
  return statuses.flatMap((one) => codes.map((code) => `${one} ${code}`));
}

const field = (node: Node | undefined, name: string): Node | undefined =>
  ((node?.["properties"] ?? []) as Node[]).find((each) => nameOf(each["key"]) === name)?.["value"] as Node | undefined;

/** The literals that an expression may be. */
function literals(node: Node | undefined): unknown[] {
  if (node?.type === "Literal") return [node["value"]];
  return node?.type === "ConditionalExpression"
    ? [...literals(node["consequent"] as Node), ...literals(node["alternate"] as Node)]
    : [];
}

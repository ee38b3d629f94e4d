/** Reads the JSON-LD of a page, reduced to what metadata uses. It skips what is malformed. */

export interface StructuredData {
  author: string | null;
  description: string | null;
  keywords: string[];
  /** As written, most specific first. */
  datesPublished: string[];
}

/** Scripts beyond these are product feeds, not descriptions of the page. */
const MAX_SCRIPT = 262_144;
const MAX_NODES = 2000;

/**
 * Reads every `application/ld+json` script of the page, `@graph`, nesting and references to nodes by `@id` included.
 */
export function structuredData(scripts: readonly string[]): StructuredData {
  const found: StructuredData = { author: null, description: null, keywords: [], datesPublished: [] };
  const nodes = scripts.filter((script) => script.length <= MAX_SCRIPT).flatMap(nodesOf);
  const names = new Map<string, string>();
  for (const { "@id": id, name } of nodes) {
    if (typeof id === "string" && typeof name === "string" && !names.has(id)) names.set(id, name);
  }
  for (const node of nodes) readNode(node, names, found);
  return found;
}

function nodesOf(script: string): Record<string, unknown>[] {
  const nodes: Record<string, unknown>[] = [];
  let budget = MAX_NODES;
  const queue: unknown[] = [parseLenient(script)];
  for (let index = 0; index < queue.length && budget > 0; index++, budget--) {
    const node = queue[index];
    if (Array.isArray(node)) {
      for (const item of node) queue.push(item);
    } else if (isRecord(node)) {
      nodes.push(node);
      for (const key of ["@graph", "mainEntity", "mainEntityOfPage"])
        if (node[key] !== undefined) queue.push(node[key]);
    }
  }
  return nodes;
}

function readNode(node: Record<string, unknown>, names: ReadonlyMap<string, string>, found: StructuredData): void {
  if (typeof node.datePublished === "string") found.datesPublished.push(node.datePublished);
  if (!isCreativeWork(node["@type"])) return;
  found.author ??= personName(node.author, names) ?? personName(node.creator, names);
  if (typeof node.description === "string" && node.description.trim() !== "") {
    found.description ??= node.description.replace(/\s+/g, " ").trim();
  }
  if (found.keywords.length === 0) {
    if (typeof node.keywords === "string") found.keywords = node.keywords.split(",");
    else if (Array.isArray(node.keywords)) {
      found.keywords = node.keywords.filter((word): word is string => typeof word === "string");
    }
  }
}

function isCreativeWork(type: unknown): boolean {
  const types = Array.isArray(type) ? type : [type];
  return types.some(
    (name) => typeof name === "string" && /Article|Posting|Page|Report|Work|Review|Recipe|Book|Course|HowTo/.test(name),
  );
}

function personName(value: unknown, names: ReadonlyMap<string, string>): string | null {
  if (typeof value === "string") {
    const name = value.trim();
    return name === "" || /^https?:/i.test(name) ? null : name;
  }
  if (Array.isArray(value)) {
    const people = value.map((each) => personName(each, names)).filter((name) => name !== null);
    return people.length === 0 ? null : [...new Set(people)].join(", ");
  }
  if (!isRecord(value)) return null;
  // some sites give a list of names to one person
  if (typeof value.name === "string" || Array.isArray(value.name)) return personName(value.name, names);
  const referred = typeof value["@id"] === "string" ? names.get(value["@id"]) : undefined;
  return referred === undefined ? null : personName(referred, names);
}

/** Pages wrap JSON-LD in comments or CDATA, and leave raw newlines inside strings. */
function parseLenient(script: string): unknown {
  const bare = script.replace(/^\s*(?:<!--|(?:\/\/\s*)?<!\[CDATA\[)/, "").replace(/(?:-->|(?:\/\/\s*)?\]\]>)\s*$/, "");
  for (const candidate of [bare, bare.replace(/[\n\r\t]+/g, " ")]) {
    try {
      return JSON.parse(candidate);
    } catch {
      // The second form is tried next; what parses in neither says nothing.
    }
  }
  return null;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** JSON-LD of a page, reduced to what metadata uses. Anything malformed is passed over. */

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

/** Reads every `application/ld+json` script of the page, `@graph` and nesting included. */
export function structuredData(scripts: readonly string[]): StructuredData {
  const found: StructuredData = { author: null, description: null, keywords: [], datesPublished: [] };
  for (const script of scripts) {
    if (script.length > MAX_SCRIPT) continue;
    let budget = MAX_NODES;
    const queue: unknown[] = [parseLenient(script)];
    for (let index = 0; index < queue.length && budget > 0; index++, budget--) {
      const node = queue[index];
      if (Array.isArray(node)) {
        for (const item of node) queue.push(item);
      } else if (isRecord(node)) {
        readNode(node, found);
        for (const key of ["@graph", "mainEntity", "mainEntityOfPage"])
          if (node[key] !== undefined) queue.push(node[key]);
      }
    }
  }
  return found;
}

function readNode(node: Record<string, unknown>, found: StructuredData): void {
  if (typeof node.datePublished === "string") found.datesPublished.push(node.datePublished);
  if (!isCreativeWork(node["@type"])) return;
  found.author ??= personName(node.author) ?? personName(node.creator);
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

function personName(value: unknown): string | null {
  if (typeof value === "string") {
    const name = value.trim();
    return name === "" || /^https?:/i.test(name) ? null : name;
  }
  if (Array.isArray(value)) {
    const names = value.map(personName).filter((name) => name !== null);
    return names.length === 0 ? null : names.join(", ");
  }
  return isRecord(value) && typeof value.name === "string" ? personName(value.name) : null;
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

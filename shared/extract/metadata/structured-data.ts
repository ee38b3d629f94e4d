/** Reads the JSON-LD of a page, reduced to what metadata uses. It skips what is malformed. */
import { decodeHTML } from "entities";

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
  for (const node of nodes) {
    const id = node["@id"];
    const name = typeof id === "string" && !names.has(id) ? personName(node, names) : null;
    if (name !== null) names.set(id as string, name);
  }
  // a page about an article may name its pictures and films first
  for (const isWork of [isWriting, isOtherWork]) for (const node of nodes) readNode(node, isWork, names, found);
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

function readNode(
  node: Record<string, unknown>,
  isWork: (type: string) => boolean,
  names: ReadonlyMap<string, string>,
  found: StructuredData,
): void {
  const published = textOf(node.datePublished);
  if (published !== null && isWork === isWriting) found.datesPublished.push(published);
  if (![node["@type"]].flat().some((type) => typeof type === "string" && isWork(type))) return;
  for (const role of ["author", "creator", "artist", "byArtist"]) found.author ??= personName(node[role], names);
  found.description ??= textOf(node.description)?.replace(/\s+/g, " ") ?? null;
  if (found.keywords.length > 0 || node.keywords === undefined) return;
  const words = [node.keywords].flat().map((word) => textOf(isRecord(word) ? (word.name ?? word) : word));
  const [only] = words;
  found.keywords = words.length === 1 && only ? only.split(",") : words.filter((word) => word !== null);
}

const isWriting = (type: string): boolean =>
  /Article|Posting|Page|Report|Work|Review|Recipe|Book|Course|HowTo/.test(type);

/** Any other CreativeWork of schema.org that may be what a page is about; a picture is not. */
const OTHER_WORK = new RegExp(
  "Episode|Podcast|Song|Music(?:Album|Recording|Composition|Playlist|Release)|Movie|Series|Season|Clip|Video|Audio|" +
    "Dataset|DataCatalog|Map$|Atlas|Menu|Play$|Painting|Photograph|Sculpture|Drawing|Poster|Thesis|Chapter|Comic|" +
    "Conversation|Message|Game|Quiz|Question|Legislation|Manuscript|Newspaper|Periodical|Publication(?:Issue|Volume)|" +
    "Presentation|Guide|Claim|Software|Application|SourceCode|Story|Blog|Collection|Statement|Announcement|" +
    "LearningResource|MediaObject|TextObject|3DModel|Diet|ExercisePlan|Hypothesis|Document|Certification|Syllabus|" +
    "Artwork|CoverArt|ArchiveComponent|Reference$|(?:^|[/:])Code$|CodeSet|TermSet|DataFeed|DataDownload|Credential|" +
    "HyperToc$|Solver|Quotation|Recommendation|SheetMusic|WebContent|TopicContent|Listing$",
);
const isOtherWork = (type: string): boolean => OTHER_WORK.test(type) && !isWriting(type) && !/ImageObject/.test(type);

/** A text, plain or as a value of JSON-LD with its type or language; of several the first. null where there is none. */
function textOf(value: unknown): string | null {
  if (Array.isArray(value)) return value.map(textOf).find((text) => text !== null) ?? null;
  if (isRecord(value)) return value["@value"] === undefined ? null : textOf(value["@value"]);
  if (typeof value !== "string" || value.trim() === "") return null;
  return (value.includes("&") ? decodeHTML(value) : value).trim();
}

/** Names within names; deeper, it is no name. */
const MAX_NAMES_DEEP = 6;

function personName(value: unknown, names: ReadonlyMap<string, string>, deep = 0): string | null {
  if (deep > MAX_NAMES_DEEP) return null;
  if (typeof value === "string" || (isRecord(value) && value["@value"] !== undefined)) {
    const name = textOf(value);
    return name === null || /^https?:/i.test(name) ? null : name;
  }
  if (Array.isArray(value)) {
    const people = value.map((each) => personName(each, names, deep + 1)).filter((name) => name !== null);
    return people.length === 0 ? null : [...new Set(people)].join(", ");
  }
  if (!isRecord(value)) return null;
  // some sites give a list of names to one person, others a person as the name
  const named = value.name === undefined ? null : personName(value.name, names, deep + 1);
  if (named !== null) return named;
  const parts = [value.givenName, value.familyName].map(textOf).filter((part) => part !== null);
  if (parts.length > 0) return parts.join(" ");
  const referred = typeof value["@id"] === "string" ? names.get(value["@id"]) : undefined;
  return referred === undefined ? null : personName(referred, names, deep + 1);
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

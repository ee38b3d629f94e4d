/**
 * The pages of a host as llms.txt has them (https://llmstxt.org): a title, a summary, and for each folder of the site a
 * list of links with descriptions. What pages say of themselves stays the text of a link or of a list's item.
 */
import { urlHash } from "../../crawl/urls/normalize-url.ts";
import type { Sql } from "../../platform/database/database.ts";

export interface LlmsSelection {
  /** The host, with its port where it has one. */
  domain: string;
  collectionId: string | null;
  /** Whether the texts of the pages come along, as in llms-full.txt. */
  isFull: boolean;
  /** Pages at the most. */
  limit: number;
  /** The last page of the part before. */
  after: LlmsPosition | undefined;
}

/** Where a part ends. Collections may each have a document of one URL. */
export interface LlmsPosition {
  id: string;
  url: string;
}

export interface LlmsPart {
  /** Markdown; parts that are put together are one file. */
  text: string;
  pages: number;
  /** What to go on after; null: that were all. */
  next: LlmsPosition | null;
}

/** Of a statement. */
type Fragment = ReturnType<typeof emptyFragment>;
const emptyFragment = (sql: Sql) => sql``;

interface Page {
  url: string;
  title: string | null;
  description: string | null;
  bytes: number;
  id: string;
}

/** Of the texts of one part, in UTF-8. */
const PART_BYTES = 3_000_000;
/** Of one text: in any script no more than a part. */
const TEXT_CHARACTERS = PART_BYTES / 3;
const LONGEST_TITLE = 300;
const LONGEST_DESCRIPTION = 500;

/** Pages below a folder belong to it; those of the top come first. */
const FOLDER = "^[a-z]+://[^/?#]+/([^/?#]+)/";

export async function llmsPart(sql: Sql, selection: LlmsSelection): Promise<LlmsPart> {
  const { domain, collectionId, isFull, limit, after } = selection;
  const of = sql`d.generation_active and d.deleted_at is null and d.domain = ${domain}
    ${collectionId === null ? emptyFragment(sql) : sql`and d.collection_id = ${collectionId}`}`;
  const folder = (url: Fragment) => sql`coalesce(substring(${url} from ${FOLDER}), '') collate "C"`;
  const found = await sql<Page[]>`
    select d.id, d.url, left(d.title, ${LONGEST_TITLE}) as title, left(d.metadata->>'description', ${LONGEST_DESCRIPTION})
      as description, octet_length(d.markdown) as bytes
    from documents d where ${of} ${
      after === undefined
        ? emptyFragment(sql)
        : sql`and (${folder(sql`d.url`)}, d.url collate "C", d.id)
            > (${folder(sql`${after.url}::text`)}, ${after.url}::text collate "C", ${after.id}::uuid)`
    }
    order by ${folder(sql`d.url`)}, d.url collate "C", d.id limit ${limit + 1}`;
  const pages = fitting(found.slice(0, limit), isFull);
  const texts = isFull ? await readTexts(sql, pages) : new Map<string, string>();
  const lines = after === undefined ? await head(sql, of, domain) : [];
  let above = after === undefined ? undefined : folderOf(after.url);
  for (const page of pages) {
    const within = folderOf(page.url);
    if (within !== above) lines.push("", `## ${within === "" ? "Pages" : inline(decoded(within))}`, "");
    above = within;
    if (isFull) lines.push(`### ${link(page)}`, "", ...nested(texts.get(page.id) ?? ""), "");
    else lines.push(`- ${link(page)}${page.description ? `: ${inline(page.description)}` : ""}`);
  }
  const text = lines.length === 0 ? "" : `${lines.join("\n")}\n`;
  const last = pages.at(-1);
  const next = found.length > pages.length && last !== undefined ? { id: last.id, url: last.url } : null;
  return { text, pages: pages.length, next };
}

/** At least one. */
function fitting(pages: readonly Page[], isFull: boolean): Page[] {
  if (!isFull) return [...pages];
  let bytes = 0;
  return pages.filter((page, at) => {
    bytes += page.bytes;
    return at === 0 || bytes <= PART_BYTES;
  });
}

async function readTexts(sql: Sql, pages: readonly Page[]): Promise<Map<string, string>> {
  const rows = await sql<{ id: string; markdown: string }[]>`
    select id, left(markdown, ${TEXT_CHARACTERS}) as markdown from documents
    where id = any(${pages.map(({ id }) => id)}::uuid[])`;
  return new Map(rows.map(({ id, markdown }) => [id, markdown]));
}

/** Of the front page, where it is there. */
async function head(sql: Sql, of: Fragment, domain: string): Promise<string[]> {
  const hashes = [`https://${domain}/`, `http://${domain}/`].map((url) => urlHash(url));
  const [front] = await sql<{ title: string | null; description: string | null }[]>`
    select left(d.title, ${LONGEST_TITLE}) as title, left(d.metadata->>'description', ${LONGEST_DESCRIPTION}) as description
    from documents d where ${of} and encode(d.url_hash, 'hex') = any(${hashes}) order by d.url desc limit 1`;
  const summary = inline(front?.description ?? "");
  return [`# ${inline(front?.title ?? "") || inline(domain)}`, ...(summary === "" ? [] : ["", `> ${summary}`])];
}

const folderOf = (url: string): string => new RegExp(FOLDER).exec(url)?.[1] ?? "";

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const link = ({ title, url }: Page): string => `[${inline(title ?? "") || inline(url)}](${target(url)})`;

/** One line in which nothing is Markdown or HTML. */
const inline = (text: string): string =>
  text
    .toWellFormed()
    .replace(/[\s\p{Cc}]+/gu, " ")
    .trim()
    // a bare address would be a link, too
    .replace(/[\\`*_[\]<>#|~!&@]|:(?=\/\/)|(?<=www)\./gi, "\\$&");

/** As the target of a link: what would end it is percent-encoded. */
const target = (url: string): string =>
  url.replace(/[\s\p{Cc}()<>\\]/gu, (character) =>
    [...Buffer.from(character)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`).join(""),
  );

/** The text of a page, its headings below that of the page, and no block of code open at its end. */
function nested(markdown: string): string[] {
  let fence: string | undefined;
  const lines = markdown
    .toWellFormed()
    .split("\n")
    .map((line) => {
      const [, mark] = /^ {0,3}(`{3,}|~{3,})/.exec(line) ?? [];
      if (fence === undefined) fence = mark;
      else if (mark?.startsWith(fence) && line.trim() === mark) fence = undefined;
      return fence === undefined ? line.replace(/^ {0,3}(#{1,6})(?=\s|$)/, (_, marks: string) => deeper(marks)) : line;
    });
  return fence === undefined ? lines : [...lines, fence];
}

const deeper = (marks: string): string => "#".repeat(Math.min(6, marks.length + 3));

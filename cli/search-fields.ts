/** The fields of a search as options of the command line, each with how its text becomes the field's value. */
import { type Command, InvalidArgumentError, Option } from "commander";

interface SearchField {
  /** Of the API's request. */
  field: string;
  /** As commander takes them. */
  flags: string;
  about: string;
  /** `list`: may be repeated. `flag`: true where it stands. */
  kind: "text" | "number" | "list" | "flag";
  choices?: readonly string[];
}

export const SEARCH_FIELDS: readonly SearchField[] = [
  { field: "limit", flags: "--limit <n>", about: "results to show, at most 100", kind: "number" },
  { field: "domains", flags: "--domain <host>", about: "only pages of this host", kind: "list" },
  { field: "collection_ids", flags: "--collection <id>", about: "only documents of this collection", kind: "list" },
  { field: "tags", flags: "--tag <name>", about: "only documents with this tag", kind: "list" },
  { field: "tag_ids", flags: "--tag-id <id>", about: "the same, by the tag's id", kind: "list" },
  {
    field: "tag_match",
    flags: "--tag-match <how>",
    about: "with any of the tags, or with all",
    kind: "text",
    choices: ["any", "all"],
  },
  { field: "languages", flags: "--language <code>", about: "only pages in this language", kind: "list" },
  {
    field: "source_types",
    flags: "--source-type <type>",
    about: "only what came this way",
    kind: "list",
    choices: ["crawl", "upload", "api"],
  },
  {
    field: "date_from",
    flags: "--date-from <time>",
    about: "only pages crawled since, as 2026-05-01T00:00:00Z",
    kind: "text",
  },
  { field: "date_to", flags: "--date-to <time>", about: "only pages crawled until then", kind: "text" },
  { field: "url_prefix", flags: "--url-prefix <url>", about: "only pages whose URL begins so", kind: "text" },
  { field: "min_score", flags: "--min-score <n>", about: "leave out results with a lower score", kind: "number" },
  {
    field: "fusion",
    flags: "--fusion <method>",
    about: "how both sides become one ranking",
    kind: "text",
    choices: ["linear", "rrf"],
  },
  { field: "rrf_k", flags: "--rrf-k <n>", about: "of rrf: the lower, the more first ranks stand out", kind: "number" },
  { field: "vector_weight", flags: "--vector-weight <n>", about: "what meaning counts", kind: "number" },
  { field: "keyword_weight", flags: "--keyword-weight <n>", about: "what words count", kind: "number" },
  { field: "expand_chunks", flags: "--expand-chunks", about: "show the texts before and behind", kind: "flag" },
  { field: "explain", flags: "--explain", about: "show the ranks on both sides", kind: "flag" },
  {
    field: "facets",
    flags: "--facet <name>",
    about: "count the matches by it",
    kind: "list",
    choices: ["domain", "language", "collection", "month", "tag"],
  },
  {
    field: "collapse_duplicates",
    flags: "--collapse-duplicates",
    about: "near-duplicates are one result",
    kind: "flag",
  },
  {
    field: "group_by",
    flags: "--group-by <what>",
    about: "results are sections, with all their headings",
    kind: "text",
    choices: ["section"],
  },
  { field: "use_reranker", flags: "--rerank", about: "in the order of the configured reranker", kind: "flag" },
  { field: "rerank_top_n", flags: "--rerank-top-n <n>", about: "so many results are reranked", kind: "number" },
  { field: "cursor", flags: "--cursor <cursor>", about: "next_cursor of the page before (see --json)", kind: "text" },
];

const number = (text: string): number => {
  const value = Number(text);
  if (text.trim() === "" || !Number.isFinite(value)) throw new InvalidArgumentError("It must be a number.");
  return value;
};

export function addSearchOptions(command: Command): Command {
  for (const each of SEARCH_FIELDS) command.addOption(optionOf(each));
  return command;
}

function optionOf({ flags, about, kind, choices }: SearchField): Option {
  const option = new Option(flags, kind === "list" ? `${about} (may be repeated)` : about);
  if (kind === "number") return option.argParser(number);
  if (kind !== "list") return choices === undefined ? option : option.choices(choices);
  return option.argParser((text: string, before: string[] | undefined) => {
    if (choices !== undefined && !choices.includes(text)) {
      throw new InvalidArgumentError(`Allowed choices are ${choices.join(", ")}.`);
    }
    return [...(before ?? []), text];
  });
}

/** The fields that the options name. */
export function searchFields(options: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const given = SEARCH_FIELDS.map((each) => [each.field, options[optionOf(each).attributeName()]] as const);
  return Object.fromEntries(given.filter(([, value]) => value !== undefined));
}

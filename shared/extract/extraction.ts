/** What extraction finds in one HTML page. Plain data: it travels in a capture batch. */

export interface PageMetadata {
  author: string | null;
  description: string | null;
  keywords: string[];
  /** Absolute URL. */
  ogImage: string | null;
  /** ISO 8601, or null where the page names none that parses. */
  publishDate: string | null;
}

/** One heading and what stands below it, up to the next heading; level 0 is what precedes the first heading. */
export interface Section {
  heading: string | null;
  /** 0 for the part before any heading, else 1 to 6. */
  level: number;
  /**
   * Character range (UTF-16 code units) of the section's own content in `Extraction.text`, heading included, children
   * not.
   */
  start: number;
  end: number;
  /** Index of the parent in `Extraction.sections`, or null at the top. Parents come before their children. */
  parent: number | null;
}

/** A stretch of `Extraction.text` that chunking treats as one kind; stretches are in order and do not overlap. */
export interface Block {
  kind: "prose" | "code" | "table" | "list";
  start: number;
  end: number;
}

export interface Extraction {
  title: string | null;
  /** ISO 639-1 code, declared or detected; "und" where neither says. */
  language: string;
  /** Absolute, as the page declares it. */
  canonicalUrl: string | null;
  metadata: PageMetadata;
  /** Absolute http(s) URLs without fragment, in document order, each once. */
  links: string[];
  /** The text of each link, in their order; left out unless it was asked for. */
  anchors?: string[] | undefined;
  /** Main content as clean text. */
  text: string;
  /** Main content as Markdown. */
  markdown: string;
  sections: Section[];
  blocks: Block[];
  /** `<meta name=robots>` or `X-Robots-Tag` of the page. */
  robots: { noindex: boolean; nofollow: boolean };
}

/** A stretch of a document's text, sized for an embedder. */
export interface Chunk {
  index: number;
  content: string;
  /** Exact range in `Extraction.text`: `text.slice(startChar, endChar) === content`. */
  startChar: number;
  endChar: number;
  tokenCount: number;
  contentType: Block["kind"];
  /** Nearest heading above the chunk's start. */
  sectionHeader: string | null;
  /** Index into `Extraction.sections`, or null. */
  section: number | null;
}

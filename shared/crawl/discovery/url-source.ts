/** Where a discovery finds URLs. */
import type { Collector } from "./collector.ts";
import type { Fetcher } from "./fetcher.ts";
import type { Notes } from "./notes.ts";
import type { Site } from "./site.ts";

export interface SourceContext {
  site: Site;
  fetcher: Fetcher;
  collector: Collector;
  notes: Notes;
}

/** Why nothing of a source could be read. */
export interface SourceFault {
  code: string;
  message: string;
}

export interface UrlSource {
  /**
   * Offers URLs to the collector until it is full, and notes what it could not read.
   * @returns null, also where there is nothing to be found
   * @throws TimeUp
   */
  collect(context: SourceContext): Promise<SourceFault | null>;
}

/** The pages that lead to others: what Strandline is, and the list of all operations. */
import { type ApiDocument, operationsOf, type Place } from "./document.ts";
import { type Content, html, prose } from "./markup.ts";
import { pageOf, type Site } from "./page.ts";

/** What there is to go to, from the root of the API. */
export interface Entrance {
  name: string;
  version: string;
  about: string;
  links: Record<string, string>;
}

const ABOUT = "Crawls web sites politely, keeps every page as a WARC capture, and searches them.";

/** @param base where clients reach the API, without a slash at the end */
export function entranceOf({ document, consolePath }: Site, base: string): Entrance {
  const { title: name, version } = document.info;
  return {
    name,
    version,
    about: ABOUT,
    links: {
      ...(consolePath === undefined ? {} : { console: `${base}/${consolePath}` }),
      docs: `${base}/docs`,
      openapi: `${base}/openapi.json`,
      health: `${base}/api/v1/health`,
    },
  };
}

/** @param root from the page to the root of the API, with a slash at the end */
export function entrancePage(site: Site, root: string): string {
  const { consolePath, document } = site;
  const main = html`
<h1>${document.info.title}</h1>
<p>${ABOUT}</p>
<ul>
${consolePath === undefined ? undefined : html`<li><a href="${root}${consolePath}">Console</a>: crawl, search and look into the archive from this browser</li>`}
<li><a href="${root}docs">API reference</a>: every operation, with a form to try it</li>
<li><a href="${root}openapi.json">OpenAPI document</a>: for generators of clients</li>
<li><a href="${root}api/v1/health/ready">Health</a>: whether all that the API stands on answers</li>
</ul>
<p>Requests of the API carry a key: <code>Authorization: Bearer KEY</code>.</p>`;
  return pageOf(site, { title: document.info.title, root, main });
}

export function operationsPage(site: Site): string {
  const { document } = site;
  const places = operationsOf(document);
  const groups = document.tags.map(({ name, description }) => {
    const own = places.filter(({ operation }) => operation.tags.includes(name));
    return html`
<section class="group" aria-labelledby="group-${name}">
<h2 id="group-${name}">${titleOf(name)}</h2>
<p>${description}</p>
<ul class="operations">${own.map((place) => html`<li>${linkOf(place)}</li>`)}</ul>
</section>`;
  });
  const main = html`
<h1>API reference</h1>
${descriptionOf(document)}
<form class="filter" role="search" hidden>
<label>Find an operation <input type="search" autocomplete="off" spellcheck="false"></label>
<output aria-live="polite"></output>
</form>
${groups}`;
  return pageOf(site, { title: "API reference: Strandline", root: "./", main });
}

/** A heading of an operation's group. */
export const titleOf = (tag: string): string => (tag.charAt(0).toUpperCase() + tag.slice(1)).replaceAll("-", " ");

const linkOf = ({ method, path, operation }: Place): Content =>
  html`<a href="./docs/${operation.operationId}"><span class="method ${method.toLowerCase()}">${method}</span>
<code>${path}</code> <span class="summary">${operation.summary}</span></a>`;

/** The description's paragraphs, and its list. */
function descriptionOf({ info }: ApiDocument): Content {
  return info.description.split("\n\n").map((paragraph) => {
    if (!paragraph.startsWith("- ")) return html`<p>${prose(paragraph)}</p>`;
    return html`<ul>${paragraph.split("\n").map((item) => html`<li>${prose(item.replace(/^- /, ""))}</li>`)}</ul>`;
  });
}

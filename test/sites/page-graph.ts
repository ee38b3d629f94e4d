/** A site of many pages that link to each other, the same at every run. */
import { html, type Route } from "./site.ts";

export interface PageGraphOptions {
  pages: number;
  linksPerPage: number;
  /** Roughly, in bytes. */
  pageBytes: number;
}

const WORDS =
  "archive crawl page index capture record server answer header request politeness slot queue robot site section table search query vector".split(
    " ",
  );

/** Pages `/page/0` to `/page/<n-1>`; page k links to the pages after it, so that page 0 leads to all. */
export function pageGraph({ pages, linksPerPage, pageBytes }: PageGraphOptions): Record<string, Route> {
  const routes: Record<string, Route> = {};
  for (let page = 0; page < pages; page += 1) routes[`/page/${page}`] = html(graphPage(page));
  routes["/"] = html(graphPage(0));
  return routes;

  function graphPage(page: number): string {
    const links = Array.from({ length: linksPerPage }, (_, index) => {
      const target = (page * linksPerPage + index + 1) % pages;
      return `<li><a href="/page/${target}">To page ${target}</a></li>`;
    }).join("");
    let text = "";
    for (let word = page; text.length < pageBytes; word += 7) {
      text += `<p>${sentence(word)} ${sentence(word + 3)} ${sentence(word + 5)}</p>`;
    }
    return `<!doctype html><html lang="en"><head><title>Page ${page}</title></head><body><ul>${links}</ul><article><h1>Page ${page}</h1>${text}</article></body></html>`;
  }
}

function sentence(seed: number): string {
  const words = Array.from({ length: 12 }, (_, index) => WORDS[(seed * 31 + index * 17 + seed * index) % WORDS.length]);
  return `The ${words.join(" ")}, number ${seed}.`;
}

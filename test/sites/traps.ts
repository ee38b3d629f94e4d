/** Parts of a site that have no end: what a crawler must leave by its own rules. */
import type { IncomingMessage } from "node:http";
import { html, type SiteAnswer } from "./site.ts";

export const document = (title: string, body: string): string =>
  `<!doctype html><html lang="en"><head><title>${title}</title></head><body><main><h1>${title}</h1>${body}</main></body></html>`;

const anchor = (href: string, text: string): string => `<li><a href="${href}">${text}</a></li>`;
const list = (items: readonly string[]): string => `<ul>${items.join("")}</ul>`;

const two = (value: number): string => String(value).padStart(2, "0");

/** `/calendar/<year>/<month>` and `/calendar/<year>/<month>/<day>`: each month leads to the next and the one before. */
export function calendar(path: string): SiteAnswer | undefined {
  const [, year, month, day] = /^\/calendar\/(-?\d+)\/(\d\d)(?:\/(\d\d))?$/.exec(path) ?? [];
  if (year === undefined || month === undefined) return undefined;
  const at = (months: number): string => {
    const total = Number(year) * 12 + Number(month) - 1 + months;
    return `/calendar/${Math.floor(total / 12)}/${two((((total % 12) + 12) % 12) + 1)}`;
  };
  if (day !== undefined) {
    return html(document(`Events on ${year}-${month}-${day}`, `<p>There are no events on this day.</p>`));
  }
  const days = Array.from({ length: 28 }, (_, index) => anchor(`${at(0)}/${two(index + 1)}`, String(index + 1)));
  const body = list([anchor(at(1), "Next month"), anchor(at(-1), "Previous month"), ...days]);
  return html(document(`Events in ${year}-${month}`, `<p>There are no events in this month.</p>${body}`));
}

const SHOP_ITEMS = 20;

/** `/shop/…`: twenty items, whose links carry another session at every visit, in each of the usual forms. */
export function createShop(): (path: string, query: string) => SiteAnswer | undefined {
  let visits = 0;
  return (path) => {
    const match = /^\/shop\/(?:item\/(\d+))?(?:;jsessionid=[\w.]+)?$/.exec(path);
    if (match === null) return undefined;
    const session = String(++visits).padStart(32, "a0");
    const forms = [
      (item: number) => `/shop/item/${item};jsessionid=${session}`,
      (item: number) => `/shop/item/${item}?PHPSESSID=${session}`,
      (item: number) => `/shop/item/${item}?sid=${session}`,
      (item: number) => `/shop/item/${item}?page=1&amp;ASPSESSIONIDABCDEFGH=${session}`,
    ];
    const links = Array.from({ length: SHOP_ITEMS }, (_, item) =>
      forms.map((form) => anchor(form(item), `Item ${item}`)),
    );
    const title = match[1] === undefined ? "The shop" : `Item ${match[1]}`;
    return html(document(title, `<p>${title} is in stock.</p>${list(links.flat())}`));
  };
}

const FACETS = ["colour", "size", "brand", "price", "rating", "material", "style", "season"];

/** `/filter`: each link adds a facet to the query, or changes one: millions of views of one list. */
export function filter(path: string, query: string): SiteAnswer | undefined {
  if (path !== "/filter") return undefined;
  const chosen = new URLSearchParams(query);
  const links = FACETS.flatMap((facet) =>
    [1, 2, 3, 4].map((value) => {
      const next = new URLSearchParams([...chosen, [facet, String(value)]]);
      return anchor(`/filter?${String(next).replaceAll("&", "&amp;")}`, `${facet} ${value}`);
    }),
  );
  return html(document("Products", `<p>Products with ${chosen.size} filters: ${query}</p>${list(links)}`));
}

/**
 * `/maze/…`: relative links of a template at the wrong depth, so that each page leads into `products/list/` once more.
 */
export function maze(path: string): SiteAnswer | undefined {
  if (!path.startsWith("/maze/")) return undefined;
  const depth = path.split("/").length - 2;
  return html(
    document(`Room ${depth}`, `<p>Room ${path}</p>${list([anchor("products/list/", "On"), anchor("x/", "X")])}`),
  );
}

/** `/mirror/…`: one and the same body under endlessly many URLs. */
export function mirror(path: string): SiteAnswer | undefined {
  if (!path.startsWith("/mirror/")) return undefined;
  const links = ["alpha", "beta", "gamma", "delta"].map((name) => anchor(`${name}/`, name));
  return html(document("The page you want", `<p>This page says the same under each of its names.</p>${list(links)}`));
}

/** The endless parts as one fallback: undefined for every other path. */
export function createTraps(): (request: IncomingMessage) => SiteAnswer | undefined {
  const shop = createShop();
  const parts = [calendar, shop, filter, maze, mirror];
  return ({ url = "/" }) => {
    const [path = "/", query = ""] = url.split("?", 2);
    for (const part of parts) {
      const answer = part(path, query);
      if (answer !== undefined) return answer;
    }
    return undefined;
  };
}

/** What all pages of the reference have in common. Links are relative: a gateway may put a stage before paths. */
import type { ApiDocument } from "./document.ts";
import { type Content, html } from "./markup.ts";

export interface Site {
  document: ApiDocument;
  /** Where the console is served, from the root of the API, e.g. `console/`; undefined: nowhere. */
  consolePath: string | undefined;
}

export interface PageParts {
  title: string;
  /** From the page to the root of the API, with a slash at the end: mostly `./` or `../`. */
  root: string;
  /** Beside the main part. */
  beside?: Content;
  main: Content;
}

/** @returns a whole document */
export function pageOf({ document, consolePath }: Site, { title, root, beside, main }: PageParts): string {
  const { version } = document.info;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${root}docs/colours.css">
<link rel="stylesheet" href="${root}docs/reference.css">
<script type="module" src="${root}docs/reference.js"></script>
</head>
<body>
<a class="skip" href="#main">To the content</a>
<header><a class="home" href="${root}docs">Strandline API ${version}</a>
<nav aria-label="Strandline"><a href="${root}docs">All operations</a>
<a href="${root}openapi.json">OpenAPI document</a>
${consolePath === undefined ? undefined : html`<a href="${root}${consolePath}">Console</a>`}</nav></header>
<div class="columns">
${beside}
<main id="main" tabindex="-1">${main}</main>
</div>
</body>
</html>
`.html;
}

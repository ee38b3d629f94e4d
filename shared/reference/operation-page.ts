/** The page of one operation: what it takes, what it answers, and a form to try it. */
import {
  type ApiDocument,
  type Contents,
  operationsOf,
  type Parameter,
  type Place,
  responseOf,
  type Schema,
  shownOf,
} from "./document.ts";
import { type Content, html, type Markup, prose } from "./markup.ts";
import { titleOf } from "./overview-pages.ts";
import { pageOf, type Site } from "./page.ts";
import { sampleOf } from "./sample.ts";
import { notesOf, schemaView, typeOf, typesOf, typeView } from "./schema-view.ts";

const JSON_TYPE = "application/json";

/** @returns undefined where the document has no such operation */
export function operationPage(site: Site, operationId: string): string | undefined {
  const { document } = site;
  const places = operationsOf(document);
  const place = places.find(({ operation }) => operation.operationId === operationId);
  if (place === undefined) return undefined;
  const { operation } = place;
  const tag = operation.tags[0] ?? "";
  const neighbours = places.filter((each) => each.operation.tags.includes(tag));
  const beside = html`
<nav class="beside" aria-label="${titleOf(tag)}"><h2>${titleOf(tag)}</h2>
<ul>${neighbours.map((each) => html`<li>${shortLink(each, operationId)}</li>`)}</ul></nav>`;
  const title = `${operationId}: Strandline API`;
  return pageOf(site, { title, root: "../", beside, main: mainOf(document, place) });
}

const shortLink = ({ method, path, operation }: Place, current: string): Markup =>
  operation.operationId === current
    ? html`<a href="./${operation.operationId}" aria-current="page"><span class="method">${method}</span> ${path}</a>`
    : html`<a href="./${operation.operationId}"><span class="method">${method}</span> ${path}</a>`;

function mainOf(document: ApiDocument, place: Place): Content {
  const { method, path, operation } = place;
  const { parameters = [], requestBody, responses, description } = operation;
  const { schemas } = document.components;
  const answers = Object.entries(responses).map(([status, each]) => ({
    ...{ status, codes: operation["x-error-codes"]?.[status] ?? [] },
    ...responseOf(document, each),
  }));
  const body = requestBody?.content[JSON_TYPE]?.schema;
  const shown = [
    ...parameters.map(({ schema }) => schema),
    ...(body === undefined ? [] : [body]),
    ...answers.flatMap(({ content = {} }) => Object.values(content).map(shownOf)),
  ];
  const sample = body === undefined ? undefined : JSON.stringify(sampleOf(body, schemas), null, 2);
  return html`
<h1>${operation.operationId}</h1>
<p class="lead">${prose(operation.summary)}</p>
<p class="address"><span class="method ${method.toLowerCase()}">${method}</span> <code>${path}</code></p>
<p>${prose(description)}</p>
<h2>Request</h2>
${parameters.length === 0 ? undefined : parametersView(parameters)}
${body === undefined ? undefined : bodyView(body, requestBody?.required ?? false)}
${parameters.length === 0 && body === undefined ? html`<p>It takes nothing but its path.</p>` : undefined}
<h3>With curl</h3>
<pre class="sample" tabindex="0" aria-label="The request with curl">${curlOf(place, sample)}</pre>
${formOf(place, sample)}
<h2>Answers</h2>
<dl class="answers">${answers.map(
    ({ status, codes, description, content = {} }) => html`
<dt>${status === "default" ? "Others" : status}</dt><dd>${prose(description)}${codesView(codes)}${contentView(content)}</dd>`,
  )}</dl>
<h2>Types</h2>
${typesOf(shown, schemas).map(([name, schema]) => typeView(name, schema))}`;
}

const parametersView = (parameters: readonly Parameter[]): Markup => html`
<div class="scrolled" tabindex="0" role="region" aria-label="Parameters"><table>
<thead><tr><th scope="col">Parameter</th><th scope="col">In</th><th scope="col">Type</th><th scope="col">Notes</th></tr></thead>
<tbody>${parameters.map(
  ({ name, in: place, required = false, description, schema }) => html`
<tr><th scope="row"><code>${name}</code>${required ? html` <span class="required">required</span>` : undefined}</th>
<td>${place}</td><td>${typeOf(schema)}</td>
<td>${description === undefined ? undefined : html`${prose(description)}<br>`}${notesOf({ ...schema, ...(description === schema.description ? { description: "" } : {}) })}</td></tr>`,
)}</tbody></table></div>`;

const bodyView = (body: Schema, required: boolean): Markup => html`
<p>JSON body${required ? "" : " (may be left out)"}: ${typeOf(body)}</p>
${body.properties === undefined ? undefined : schemaView(body, "the body")}`;

const codesView = (codes: readonly string[]): Content =>
  codes.length === 0 ? undefined : html`<br>${codes.map((code) => html`<code>${code}</code> `)}`;

const contentView = (content: Contents): Content =>
  Object.entries(content).map(([type, media]) => html`<br><code>${type}</code>: ${typeOf(shownOf(media))}`);

/** A path or query parameter as a form and an example begin with it. */
const exampleOf = ({ schema, required = false }: Parameter): string => {
  if (!required) return "";
  const value = sampleOf(schema, {});
  return typeof value === "object" ? "" : String(value);
};

function curlOf({ method, path, operation }: Place, sample: string | undefined): string {
  const { parameters = [], security } = operation;
  const query = parameters
    .filter(({ in: place, required }) => place === "query" && required)
    .map((each) => `${each.name}=${encodeURIComponent(exampleOf(each))}`);
  const url = `$STRANDLINE_URL${path}${query.length === 0 ? "" : `?${query.join("&")}`}`;
  const parts = [
    `curl${method === "GET" ? "" : ` -X ${method}`} "${url}"`,
    ...(security.length === 0 ? [] : ['-H "Authorization: Bearer $STRANDLINE_API_KEY"']),
    ...(sample === undefined ? [] : ['-H "Content-Type: application/json"', `-d '${sample.replaceAll("'", "'\\''")}'`]),
  ];
  return parts.join(" \\\n  ");
}

/** Shown by the page's script, without which it could do nothing. */
function formOf({ method, path, operation }: Place, sample: string | undefined): Markup {
  const { parameters = [], security } = operation;
  const fields = parameters.map(
    (each) => html`
<label>${each.name} <span class="place">${each.in}${each.required ? ", required" : ""}</span>
<input name="${each.name}" data-in="${each.in}" value="${exampleOf(each)}" autocomplete="off" spellcheck="false"></label>`,
  );
  const body =
    sample === undefined
      ? undefined
      : html`<label>Body <textarea data-part="body" rows="8" spellcheck="false">${sample}</textarea></label>`;
  const key =
    security.length === 0
      ? undefined
      : html`<label>API key <input data-part="key" type="password" autocomplete="off" spellcheck="false"></label>
<label class="check"><input data-part="keep" type="checkbox"> Keep the key in this tab, for the console too</label>`;
  return html`
<form class="try" data-method="${method}" data-path="${path}" hidden>
<h3>Try it</h3>
${fields}${body}${key}
<p><button type="submit">Send ${method}</button> <button type="button" data-part="stop" disabled>Stop</button></p>
<p class="outcome" aria-live="polite"></p>
<pre class="answer" tabindex="0" aria-label="The answer" hidden></pre>
</form>`;
}

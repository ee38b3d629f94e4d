/** Schemas as a reader reads them: each type once on a page, whatever refers to it. */
import { nameOf, type Schema } from "./document.ts";
import { type Content, html, joined, type Markup, prose } from "./markup.ts";

/** What a value may be, in one line; types that have a name are links to where they are described. */
export function typeOf(schema: Schema): Content {
  const { $ref, anyOf, oneOf, allOf = [], items, prefixItems, properties, additionalProperties } = schema;
  if ($ref !== undefined) return html`<a href="#${idOf(nameOf($ref))}">${nameOf($ref)}</a>`;
  if (schema.const !== undefined) return codeOf(schema.const);
  if (schema.enum !== undefined) return joined(schema.enum.map(codeOf), " or ");
  const choices = properties === undefined ? (anyOf ?? oneOf) : undefined;
  if (choices !== undefined) return joined(choices.map(typeOf), " or ");
  const [whole] = allOf;
  if (whole !== undefined && schema.type === undefined) return typeOf(whole);
  const kinds = [schema.type ?? "anything"].flat().map((kind): Content => {
    if (kind === "array" && prefixItems !== undefined) return ["[", joined(prefixItems.map(typeOf), ", "), "]"];
    if (kind === "array") return ["list of ", items === undefined ? "anything" : typeOf(items)];
    if (kind === "object" && typeof additionalProperties === "object") {
      return ["object of names, each with ", typeOf(additionalProperties)];
    }
    return kind === "string" && schema.format !== undefined ? `string (${schema.format})` : kind;
  });
  return joined(kinds, " or ");
}

/** What else is said of a value: description, default and limits. */
export function notesOf(schema: Schema): Content {
  const notes: Content[] = [];
  if (schema.description !== undefined) notes.push(prose(schema.description));
  if (schema.default !== undefined) notes.push(["default ", codeOf(schema.default)]);
  for (const part of [schema, schema.items]) {
    const limits = part === undefined ? [] : limitsOf(part);
    if (limits.length > 0) notes.push([part === schema ? "" : "each: ", joined(limits, ", ")]);
  }
  return joined(notes, "; ");
}

function limitsOf(schema: Schema): Content[] {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, pattern } = schema;
  return [
    between(minimum, maximum, ""),
    between(schema.minLength, schema.maxLength, " characters"),
    between(schema.minItems, schema.maxItems, " items"),
    exclusiveMinimum === undefined ? undefined : `more than ${exclusiveMinimum}`,
    exclusiveMaximum === undefined ? undefined : `less than ${exclusiveMaximum}`,
    pattern === undefined ? undefined : html`pattern <code>${pattern}</code>`,
  ].filter((each) => each !== undefined);
}

function between(least: number | undefined, most: number | undefined, unit: string): string | undefined {
  if (least === undefined && most === undefined) return undefined;
  if (least === undefined) return `at most ${most}${unit}`;
  return most === undefined ? `at least ${least}${unit}` : `${least} to ${most}${unit}`;
}

/** Every named type that the schemas refer to, directly or through others, in the order in which they are met. */
export function typesOf(begin: readonly Schema[], schemas: Readonly<Record<string, Schema>>): [string, Schema][] {
  const found = new Map<string, Schema>();
  const visit = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    for (const [key, each] of Object.entries(value)) {
      if (key !== "$ref" || typeof each !== "string") visit(each);
      else if (!found.has(nameOf(each))) {
        const schema = schemas[nameOf(each)] ?? {};
        found.set(nameOf(each), schema);
        visit(schema);
      }
    }
  };
  visit(begin);
  return [...found];
}

/** A named type: its fields, or what it may be. */
export const typeView = (name: string, schema: Schema): Markup => html`
<section class="type" id="${idOf(name)}">
<h3>${name}</h3>
${schema.description === undefined || schema.properties === undefined ? undefined : html`<p>${prose(schema.description)}</p>`}
${schemaView(schema, name)}
</section>`;

/** @param of whose fields they are, for who hears the table read */
export function schemaView(schema: Schema, of: string): Markup {
  const { properties, required = [], allOf = [], items } = schema;
  if (properties === undefined && items?.properties !== undefined) {
    return html`<p>A list of objects:</p>${schemaView(items, `each item of ${of}`)}`;
  }
  if (properties === undefined) {
    const notes = notesOf(schema);
    return html`<p class="kind">${typeOf(schema)}${Array.isArray(notes) && notes.length > 0 ? [": ", notes] : undefined}</p>`;
  }
  const fields = Object.entries(properties).map(
    ([name, field]) => html`
<tr><th scope="row"><code>${name}</code>${required.includes(name) ? html` <span class="required">required</span>` : undefined}</th>
<td>${typeOf(field)}</td><td>${notesOf(field)}</td></tr>`,
  );
  return html`
<div class="scrolled" tabindex="0" role="region" aria-label="Fields of ${of}"><table>
<thead><tr><th scope="col">Field</th><th scope="col">Type</th><th scope="col">Notes</th></tr></thead>
<tbody>${fields}</tbody></table></div>
${allOf.map(ruleView)}`;
}

/** A rule about several fields: in words where it says which are needed, as it stands where it says more. */
function ruleView(rule: Schema): Markup {
  const ways = rule.anyOf ?? rule.oneOf ?? [];
  const isOfNames = ways.length > 1 && ways.every((way) => Object.keys(way).join() === "required");
  if (!isOfNames) {
    return html`<details><summary>A rule about several fields</summary><pre tabindex="0">${JSON.stringify(rule, null, 2)}</pre></details>`;
  }
  const names = ways.map(({ required = [] }) => joined(required.map(codeOf), " and "));
  return html`<p>${rule.oneOf === undefined ? "Needed" : "Needed, and one alone"}: ${joined(names, ", or ")}.</p>`;
}

const idOf = (name: string): string => `type-${name}`;

const codeOf = (value: unknown): Markup =>
  html`<code>${typeof value === "string" ? value : JSON.stringify(value)}</code>`;

/**
 * HTML, XHTML and SVG with their references into the archive. Only attributes and texts that hold references are
 * written anew; everything else, the broken included, stays as it was sent.
 */
import { escapeAttribute, escapeUTF8 } from "entities";
import { Tokenizer } from "htmlparser2";
import { archivedReference, type Modifier, type ReplayContext } from "./replay-url.ts";
import { rewriteCss } from "./rewrite-css.ts";
import { rewriteImportMap, rewriteScript } from "./rewrite-script.ts";
import { rewriteSrcset } from "./rewrite-srcset.ts";

export interface RewrittenMarkup {
  /** Where links lead, absolute and without fragment. */
  links: ReadonlySet<string>;
  /** @param isArchived whether a capture of such a URL exists */
  text(isArchived: (url: string) => boolean): string;
}

export interface MarkupOptions extends ReplayContext {
  kind: "html" | "xhtml" | "xml" | "xslt";
  /** Goes before whatever the page holds; empty: nothing. */
  head: string;
  sheets?: StyleSheets;
  /** WHATWG name of the encoding that forms send in. */
  charset: string | null;
}

/** XSLT style sheets that are named, and what stands for them. */
export interface StyleSheets {
  /** URL of what names them. */
  base: string;
  /** `data:` URLs by the URLs of the sheets. */
  found: ReadonlyMap<string, string>;
}

interface Attribute {
  name: string;
  value: string;
  start: number;
  /** Behind its closing quote. */
  end: number;
}

interface Element {
  name: string;
  attributes: Attribute[];
}

interface Edit {
  start: number;
  end: number;
  text: string;
  /** Written only where no capture of this URL exists. */
  unlessArchived?: string;
}

/** Attributes that name one URL, whatever the element. */
const REFERENCES = new Set("href src poster action formaction background xlink:href longdesc lowsrc dynsrc".split(" "));
/** And those that do on these elements only. */
const REFERENCES_OF: Readonly<Record<string, readonly string[]>> = {
  object: ["data", "codebase", "archive"],
  applet: ["codebase", "archive", "code", "object"],
};
const SRCSETS = new Set(["srcset", "imagesrcset"]);
/** They would let something out, or keep what was rewritten from being loaded. */
const DROPPED = new Set(
  "integrity ping attributionsrc referrerpolicy csp manifest credentialless browsingtopics".split(" "),
);
const FRAMES = new Set(["iframe", "frame", "embed", "object", "fencedframe", "portal"]);
const LINKS = new Set(["a", "area"]);
/** A page that is replayed fills its frame, and opens no other. */
const OUTER_TARGET = /^_(blank|top|parent|unfencedtop)$/i;
/** Names to look up hosts by, and pages to load ahead, where nobody sees which. */
const AHEAD = /\b(dns-prefetch|preconnect|prerender|pingback)\b/i;
const SCRIPT_TYPES =
  /^(|module|text\/javascript|application\/javascript|text\/ecmascript|application\/ecmascript|application\/x-javascript)$/i;
const NEUTRAL_EQUIV =
  /^(content-security-policy(-report-only)?|x-content-security-policy|x-webkit-csp|x-dns-prefetch-control|set-cookie|origin-trial)$/i;

export function rewriteMarkup(source: string, options: MarkupOptions): RewrittenMarkup {
  const { kind, head } = options;
  const edits: Edit[] = [];
  const links = new Set<string>();
  let base = options.url;
  let basedAlready = false;
  let headDone = head === "";
  let element: Element | undefined;
  let elementStart = 0;
  let attribute: Attribute | undefined;
  let text: { element: Element; start: number } | undefined;
  const lower = (name: string): string => (kind === "html" ? name.toLowerCase() : name);
  const referenced = (reference: string, modifier: Modifier) => archivedReference(options, reference, modifier, base);
  const css = (sheet: string): string =>
    rewriteCss(sheet, (reference, what) => referenced(reference, what === "import" ? "cs_" : "im_"));
  const scripted = (script: string): string => rewriteScript(script, { ...options, url: base });

  const placeHead = (name: string, endOfTag: number): void => {
    if (headDone) return;
    if (kind === "xml") {
      if (name === "svg" && source[endOfTag - 2] !== "/") edits.push({ start: endOfTag, end: endOfTag, text: head });
    } else if (name.toLowerCase() === "head") edits.push({ start: endOfTag, end: endOfTag, text: head });
    else if (name === "html" || (kind !== "html" && name.toLowerCase() !== "body")) return;
    else if (kind === "html" || kind === "xslt") edits.push({ start: elementStart, end: elementStart, text: head });
    headDone = true;
  };

  const endOfTag = (end: number): void => {
    if (element === undefined) return;
    placeHead(element.name, end);
    editElement(element);
    if (element.name === "script" || element.name === "style") text = { element, start: end };
    element = undefined;
  };

  const replace = ({ start, end }: Attribute, name: string, value: string): void => {
    edits.push({ start, end, text: `${name}="${kind === "html" ? escapeAttribute(value) : escapeUTF8(value)}"` });
  };
  const setAside = (each: Attribute): void => replace(each, `data-archive-${each.name.replace(":", "-")}`, each.value);

  function editElement({ name, attributes }: Element): void {
    const given = (wanted: string): string | undefined => attributes.find((each) => each.name === wanted)?.value;
    for (const each of attributes) editAttribute(name, each, given);
    const add = (text: string): void => {
      const at = elementStart + 1 + name.length;
      edits.push({ start: at, end: at, text: ` ${text}` });
    };
    // captions and the like are loaded as another origin's, since replay has none
    if ((name === "video" || name === "audio") && given("crossorigin") === undefined) add('crossorigin="anonymous"');
    const { charset } = options;
    if (name === "form" && charset !== null && !/^utf-/i.test(charset) && given("accept-charset") === undefined)
      add(`accept-charset="${charset}"`);
  }

  function editAttribute(element: string, each: Attribute, given: (name: string) => string | undefined): void {
    const { name, value } = each;
    // what is computed is mended when it is there
    if (kind === "xslt" && value.includes("{")) return;
    if (kind === "xslt" && /(^|:)(include|import)$/.test(element) && name === "href") {
      const sheet = sheetFor(value);
      if (sheet !== undefined) replace(each, name, sheet);
      return;
    }
    if (DROPPED.has(name)) return void setAside(each);
    if (name === "style") return void replaceIfOther(each, css(value));
    if (SRCSETS.has(name))
      return void replaceIfOther(
        each,
        rewriteSrcset(value, (reference) => referenced(reference, "im_")),
      );
    if (name === "srcdoc") {
      const inner = rewriteMarkup(value, { ...options, kind: "html", url: base });
      for (const link of inner.links) links.add(link);
      return void replace(
        each,
        name,
        inner.text(() => true),
      );
    }
    if (name === "target" || name === "formtarget") {
      if (OUTER_TARGET.test(value.trim())) replace(each, name, "_self");
      return;
    }
    if (element === "meta") return void editMeta(each, given);
    if (element === "script" && name === "type" && /^speculationrules$/i.test(value.trim())) return void setAside(each);
    if (!REFERENCES.has(name) && !REFERENCES_OF[element]?.includes(name)) return;
    if (element === "link" && AHEAD.test(given("rel") ?? "")) return void setAside(each);
    if (element === "base") return void editBase(each);
    const reference = referenced(value, /action$/.test(name) ? "mp_" : modifierOf(element, given));
    if (reference === undefined) return;
    replace(each, name, reference);
    if (!LINKS.has(element)) return;
    const url = URL.parse(value.trim(), base);
    if (url === null) return;
    url.hash = "";
    links.add(url.href);
    edits.push({ start: each.end, end: each.end, text: ' data-archive-missing=""', unlessArchived: url.href });
  }

  function sheetFor(reference: string): string | undefined {
    const url = URL.parse(reference.trim(), options.sheets?.base);
    if (url === null) return undefined;
    url.hash = "";
    return options.sheets?.found.get(url.href);
  }

  const replaceIfOther = (each: Attribute, value: string): void => {
    if (value !== each.value) replace(each, each.name, value);
  };

  function editBase(each: Attribute): void {
    const url = each.name === "href" ? URL.parse(each.value.trim(), options.url) : null;
    const reference = url === null ? undefined : archivedReference(options, url.href, "mp_");
    if (url === null || reference === undefined) return void setAside(each);
    replace(each, each.name, reference);
    if (!basedAlready) base = url.href;
    basedAlready = true;
  }

  function editMeta(each: Attribute, given: (name: string) => string | undefined): void {
    const equiv = given("http-equiv")?.trim() ?? "";
    if (each.name === "http-equiv" && NEUTRAL_EQUIV.test(equiv)) return void setAside(each);
    if (each.name === "name" && /^referrer$/i.test(each.value.trim())) return void setAside(each);
    if (each.name !== "content" || !/^refresh$/i.test(equiv)) return;
    replaceIfOther(
      each,
      rewriteRefresh(each.value, (reference) => referenced(reference, "mp_")),
    );
  }

  function editText({ element, start }: { element: Element; start: number }, end: number): void {
    const written = source.slice(start, end);
    const type = element.attributes.find(({ name }) => name === "type")?.value.trim() ?? "";
    const rewritten =
      element.name === "style"
        ? css(written)
        : /^importmap$/i.test(type)
          ? rewriteImportMap(written, options, base)
          : SCRIPT_TYPES.test(type)
            ? scripted(written)
            : written;
    if (rewritten !== written) edits.push({ start, end, text: rewritten });
  }

  const tokenizer = new Tokenizer(
    { xmlMode: kind !== "html", decodeEntities: true },
    {
      onopentagname(start, end) {
        element = { name: lower(source.slice(start, end)), attributes: [] };
        elementStart = start - 1;
      },
      onattribname(start, end) {
        attribute = { name: source.slice(start, end).toLowerCase(), value: "", start, end };
      },
      onattribdata(start, end) {
        if (attribute) attribute.value += source.slice(start, end);
      },
      onattribentity(point) {
        if (attribute) attribute.value += String.fromCodePoint(point);
      },
      onattribend(quote, end) {
        if (attribute === undefined) return;
        // the end of a quoted value lies before its quote
        attribute.end = quote > 1 && /["']/.test(source[end] ?? "") ? end + 1 : quote === 0 ? attribute.end : end;
        element?.attributes.push(attribute);
        attribute = undefined;
      },
      onopentagend: (end) => endOfTag(end + 1),
      onselfclosingtag: (end) => endOfTag(end + 1),
      onclosetag(start, end) {
        if (text !== undefined && lower(source.slice(start, end)) === text.element.name) {
          editText(text, start - 2);
          text = undefined;
        }
      },
      onprocessinginstruction(start, end) {
        const written = source.slice(start, end);
        if (!/^\??xml-stylesheet\s/.test(written)) return;
        const rewritten = written.replace(/(\shref\s*=\s*)(["'])(.*?)\2/, (all, before, quote, reference) => {
          const address = unescaped(reference);
          const found =
            sheetFor(address) ?? referenced(address, /type\s*=\s*["']text\/css/.test(written) ? "cs_" : "im_");
          return found === undefined ? all : `${before}${quote}${escapeUTF8(found)}${quote}`;
        });
        if (rewritten !== written) edits.push({ start, end, text: rewritten });
      },
      oncdata() {},
      oncomment() {},
      ondeclaration() {},
      ontext() {},
      ontextentity() {},
      onend() {},
    },
  );
  tokenizer.write(source);
  tokenizer.end();
  if (text !== undefined) editText(text, source.length);
  if (!headDone && kind === "html") edits.push({ start: source.length, end: source.length, text: head });
  return { links, text: (isArchived) => applied(source, edits, isArchived) };
}

export const unescaped = (text: string): string =>
  text.replaceAll("&lt;", "<").replaceAll("&quot;", '"').replaceAll("&apos;", "'").replaceAll("&amp;", "&");

/** `5; url=…` of a `Refresh` header or element (WHATWG HTML, "shared declarative refresh steps"). */
export function rewriteRefresh(content: string, rewrite: (reference: string) => string | undefined): string {
  const [, before, quote = "", rest = ""] = /^(\s*[\d.]+\s*[;,\s]\s*(?:url\s*=\s*)?)(["']?)(.*)$/is.exec(content) ?? [];
  if (before === undefined) return content;
  const reference = quote === "" ? rest : (rest.split(quote, 1)[0] ?? "");
  const rewritten = reference.trim() === "" ? undefined : rewrite(reference);
  return rewritten === undefined ? content : `${before}${rewritten}`;
}

function modifierOf(element: string, given: (name: string) => string | undefined): Modifier {
  if (FRAMES.has(element)) return "if_";
  if (element === "script") return "js_";
  if (element === "link") {
    const rel = given("rel")?.toLowerCase() ?? "";
    const as = given("as")?.toLowerCase() ?? "";
    if (/\bstylesheet\b/.test(rel) || as === "style") return "cs_";
    if (/\bmodulepreload\b/.test(rel) || as === "script" || as === "worker") return "js_";
    return as === "document" || /\b(prefetch|next|prev|alternate|canonical)\b/.test(rel) ? "mp_" : "im_";
  }
  return LINKS.has(element) ? "mp_" : "im_";
}

function applied(source: string, edits: readonly Edit[], isArchived: (url: string) => boolean): string {
  const parts: string[] = [];
  let copied = 0;
  // edits of one place keep their order
  for (const { start, end, text, unlessArchived } of edits.toSorted((a, b) => a.start - b.start)) {
    if (start < copied || (unlessArchived !== undefined && isArchived(unlessArchived))) continue;
    parts.push(source.slice(copied, start), text);
    copied = end;
  }
  parts.push(source.slice(copied));
  return parts.join("");
}

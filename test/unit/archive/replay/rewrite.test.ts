import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readReplayPath } from "../../../../shared/archive/replay/rewrite/replay-url.ts";
import { rewriteCss } from "../../../../shared/archive/replay/rewrite/rewrite-css.ts";
import { rewriteMarkup, rewriteRefresh } from "../../../../shared/archive/replay/rewrite/rewrite-html.ts";
import { rewriteImportMap, rewriteScript } from "../../../../shared/archive/replay/rewrite/rewrite-script.ts";
import { rewriteSrcset } from "../../../../shared/archive/replay/rewrite/rewrite-srcset.ts";

const context = { timestamp: "20260102030405", url: "https://site.test/dir/page" };
const to = (modifier: string, url: string) => `/20260102030405${modifier}/${url}`;
const html = (source: string, kind: "html" | "xhtml" | "xml" = "html", archived = true) =>
  rewriteMarkup(source, { ...context, kind, head: "", charset: null }).text(() => archived);
const css = (source: string) => rewriteCss(source, (reference, kind) => `<${kind} ${reference}>`);

describe("the path of replay", () => {
  it.each([
    ["/20260102030405/https://site.test/a?b=1", "20260102030405", "", "https://site.test/a?b=1"],
    ["/2026id_/http://site.test", "2026", "id_", "http://site.test/"],
    ["/https://site.test/", undefined, "", "https://site.test/"],
    ["/20260102030405im_/https:/site.test/one%20slash", "20260102030405", "im_", "https://site.test/one%20slash"],
    ["/20260102030405/https://site.test//a/../b", "20260102030405", "", "https://site.test//b"],
  ])("%s", (path, timestamp, modifier, url) => {
    expect(readReplayPath(path)).toEqual({ timestamp, modifier, url });
  });

  it.each([
    "/",
    "/x",
    "/2026/ftp://site.test/",
    "/20261345/https://site.test/",
    "/2026xx_/https://site.test/",
    "/2026/https:///",
  ])("%s is none", (path) => expect(readReplayPath(path)).toBeUndefined());
});

describe("style sheets", () => {
  it.each([
    ["a{b:url(x.png)}", 'a{b:url("%3Cresource x.png>")}'],
    ["a{b:url( 'x y.png' )}", `a{b:url( "%3Cresource x y.png>" )}`],
    ["a{b:u\\72l(x.png)}", 'a{b:u\\72l("%3Cresource x.png>")}'],
    ["a{b:URL(\\78.png)}", 'a{b:URL("%3Cresource x.png>")}'],
    ['@import "a.css" screen;b{}', '@import "%3Cimport a.css>" screen;b{}'],
    ["@\\69mport url(a.css) layer(x);", '@\\69mport url("%3Cimport a.css>") layer(x);'],
    [
      'a{b:image-set("x.png" 1x,url(y.png) 2x type("image/png"))}',
      'a{b:image-set("%3Cresource x.png>" 1x,url("%3Cresource y.png>") 2x type("image/png"))}',
    ],
    ['a{b:src("x.woff")}', 'a{b:src("%3Cresource x.woff>")}'],
    ["/* url(x) */a{content:'url(y)'}", "/* url(x) */a{content:'url(y)'}"],
    ["@namespace svg url(http://www.w3.org/2000/svg);a{}", "@namespace svg url(http://www.w3.org/2000/svg);a{}"],
    ["a{b:url(x", 'a{b:url("%3Cresource x>"'],
    ["a{--b:url(x)}", 'a{--b:url("%3Cresource x>")}'],
  ])("%s", (source, expected) => {
    expect(css(source)).toBe(expected);
  });

  it("of any kind come to an end, and stay as they are where nothing refers", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(..."url(\"')\\@import;{} x/*\n".split("")), maxLength: 60 }),
        (text) => {
          expect(rewriteCss(text, () => undefined)).toBe(text);
        },
      ),
    );
  });
});

describe("srcset", () => {
  const map = (reference: string) => `[${reference}]`;
  it.each([
    ["a.png 1x, b.png 2x", "[a.png] 1x, [b.png] 2x"],
    ["a.png", "[a.png]"],
    [" a.png , b.png 2x,", "[a.png], [b.png] 2x"],
    ["data:image/png;base64,AA 1x, b.png 2x", "[data:image/png;base64,AA] 1x, [b.png] 2x"],
    ["a.png 1x,b.png 2x", "[a.png] 1x, [b.png] 2x"],
    ["a,b.png 1x", "[a,b.png] 1x"],
  ])("%s", (source, expected) => {
    expect(rewriteSrcset(source, map)).toBe(expected);
  });

  it("of commas without end takes the time of its length", () => {
    const before = process.cpuUsage();
    expect(rewriteSrcset(`a${",".repeat(100_000)}b 1x`, map)).toBe(`[a${",".repeat(100_000)}b] 1x`);
    expect(process.cpuUsage(before).user / 1000).toBeLessThan(1_000);
  });
});

describe("markup", () => {
  it.each([
    ['<a href="/x?a=1&amp;b=2">', `<a href="${to("mp_", "https://site.test/x?a=1&amp;b=2")}">`],
    ["<a href=x>", `<a href="${to("mp_", "https://site.test/dir/x")}">`],
    ["<A HREF='//other.test/y'>", `<A href="${to("mp_", "https://other.test/y")}">`],
    ['<a href="#top">', '<a href="#top">'],
    ['<a href="mailto:a@b.c">', '<a href="mailto:a@b.c">'],
    ['<img src=" h&#116;tp://site.test/i.png ">', `<img src="${to("im_", "http://site.test/i.png")}">`],
    ["<img srcset='i.png 2x'>", `<img srcset="${to("im_", "https://site.test/dir/i.png")} 2x">`],
    [
      "<img style='background:url(&quot;i.png&quot;)'>",
      `<img style="background:url(&quot;${to("im_", "https://site.test/dir/i.png")}&quot;)">`,
    ],
    [
      "<link rel=stylesheet href=s.css integrity=sha256-x>",
      `<link rel=stylesheet href="${to("cs_", "https://site.test/dir/s.css")}" data-archive-integrity="sha256-x">`,
    ],
    [
      "<link rel=preload as=image imagesrcset='i.png 2x'>",
      `<link rel=preload as=image imagesrcset="${to("im_", "https://site.test/dir/i.png")} 2x">`,
    ],
    ["<link rel=dns-prefetch href=//cdn.test>", '<link rel=dns-prefetch data-archive-href="//cdn.test">'],
    ["<script src=a.js></script>", `<script src="${to("js_", "https://site.test/dir/a.js")}"></script>`],
    ["<iframe src=f></iframe>", `<iframe src="${to("if_", "https://site.test/dir/f")}"></iframe>`],
    ["<object data=o.svg>", `<object data="${to("if_", "https://site.test/dir/o.svg")}">`],
    ["<x-element data=o.svg>", "<x-element data=o.svg>"],
    [
      "<form action=/go><button formaction=/b>",
      `<form action="${to("mp_", "https://site.test/go")}"><button formaction="${to("mp_", "https://site.test/b")}">`,
    ],
    ["<body background=b.gif>", `<body background="${to("im_", "https://site.test/dir/b.gif")}">`],
    [
      "<svg><use xlink:href=s.svg#i></svg>",
      `<svg><use xlink:href="${to("im_", "https://site.test/dir/s.svg#i")}"></svg>`,
    ],
    [
      "<base href=/other/><img src=i.png>",
      `<base href="${to("mp_", "https://site.test/other/")}"><img src="${to("im_", "https://site.test/other/i.png")}">`,
    ],
    [
      "<meta http-equiv=refresh content='3; URL=\"next\"'>",
      `<meta http-equiv=refresh content="3; URL=${to("mp_", "https://site.test/dir/next")}">`,
    ],
    [
      "<meta http-equiv=Content-Security-Policy content='default-src x'>",
      "<meta data-archive-http-equiv=\"Content-Security-Policy\" content='default-src x'>",
    ],
    ["<meta name=referrer content=no-referrer>", '<meta data-archive-name="referrer" content=no-referrer>'],
    [
      "<a href=x target=_top ping=/p>",
      `<a href="${to("mp_", "https://site.test/dir/x")}" target="_self" data-archive-ping="/p">`,
    ],
    ["<style>a{b:url(i.png)}</style>", `<style>a{b:url("${to("im_", "https://site.test/dir/i.png")}")}</style>`],
    [
      '<script type=application/ld+json>{"url":"https://site.test/"}</script>',
      '<script type=application/ld+json>{"url":"https://site.test/"}</script>',
    ],
    [
      "<script type=speculationrules>{}</script>",
      '<script data-archive-type="speculationrules">{}</script>'.replace("<script ", "<script "),
    ],
    [
      "<script type=module>import '/m.js'</script>",
      `<script type=module>import '${to("js_", "https://site.test/m.js")}'</script>`,
    ],
    [
      "<iframe srcdoc='<img src=&quot;i.png&quot;>'></iframe>",
      `<iframe srcdoc="<img src=&quot;${to("im_", "https://site.test/dir/i.png")}&quot;>"></iframe>`,
    ],
    [
      "<video src=v.mp4><track src=t.vtt>",
      `<video crossorigin="anonymous" src="${to("im_", "https://site.test/dir/v.mp4")}"><track src="${to("im_", "https://site.test/dir/t.vtt")}">`,
    ],
    ["<p title='a > b' class=x>t & u</p>", "<p title='a > b' class=x>t & u</p>"],
    [
      "<!-- <img src=http://x.test/> --><textarea><img src=http://x.test/></textarea>",
      "<!-- <img src=http://x.test/> --><textarea><img src=http://x.test/></textarea>",
    ],
  ])("%s", (source, expected) => {
    expect(html(source)).toBe(expected);
  });

  it("marks what is not archived", () => {
    expect(html("<a href=x#y>", "html", false)).toBe(
      `<a href="${to("mp_", "https://site.test/dir/x#y")}" data-archive-missing="">`,
    );
    expect([
      ...rewriteMarkup("<a href=x#y><area href=/z>", { ...context, kind: "html", head: "", charset: null }).links,
    ]).toEqual(["https://site.test/dir/x", "https://site.test/z"]);
  });

  it.each([
    ["<!doctype html><html><head><title>t</title>", "<!doctype html><html><head>[S]<title>t</title>"],
    ["<!doctype html><p>x", "<!doctype html>[S]<p>x"],
    ["<html><frameset><frame></frameset>", "<html>[S]<frameset><frame></frameset>"],
    ["text alone", "text alone[S]"],
  ])("%s has our script before whatever runs", (source, expected) => {
    expect(rewriteMarkup(source, { ...context, kind: "html", head: "[S]", charset: null }).text(() => true)).toBe(
      expected,
    );
  });

  it("of XML keeps its case, and names its style sheet", () => {
    expect(
      html(
        '<?xml-stylesheet type="text/css" href="a.css?b&amp;c"?><svg viewBox="0"><image href="i.png"/></svg>',
        "xml",
      ),
    ).toBe(
      `<?xml-stylesheet type="text/css" href="${to("cs_", "https://site.test/dir/a.css?b&amp;c")}"?><svg viewBox="0"><image href="${to("im_", "https://site.test/dir/i.png")}"/></svg>`,
    );
  });

  it("of SVG has our script within, and other XML has none", () => {
    const given = { ...context, kind: "xml", head: "[S]", charset: null } as const;
    const of = (source: string) => rewriteMarkup(source, given).text(() => true);
    expect(of('<?xml version="1.0"?><svg a="b"><g/></svg>')).toBe('<?xml version="1.0"?><svg a="b">[S]<g/></svg>');
    for (const text of ["<svg/>", "<feed><svg></svg></feed>"]) expect(of(text)).toBe(text);
  });

  it("names the XSLT style sheets that stand in it", () => {
    const sheets = { base: "https://site.test/dir/page", found: new Map([["https://site.test/s.xsl", "data:x"]]) };
    const of = (kind: "xml" | "xslt", source: string) =>
      rewriteMarkup(source, { ...context, kind, head: "[S]", charset: null, sheets }).text(() => true);
    const named = (href: string) => `<?xml-stylesheet type="text/xsl" href="${href}"?><a/>`;
    expect(of("xml", named("/s.xsl#x"))).toBe(named("data:x"));
    expect(of("xml", named("/t.xsl"))).toBe(named(to("im_", "https://site.test/t.xsl")));
    expect(of("xslt", '<s><xsl:include href="/s.xsl"/><HEAD><a href="{x}"/><a href="y"/></HEAD></s>')).toBe(
      `<s><xsl:include href="data:x"/><HEAD>[S]<a href="{x}"/><a href="${to("mp_", "https://site.test/dir/y")}"/></HEAD></s>`,
    );
  });

  it("of legacy encodings sends its forms in them", () => {
    const options = { ...context, kind: "html", head: "", charset: "windows-1251" } as const;
    expect(rewriteMarkup("<form>", options).text(() => true)).toBe('<form accept-charset="windows-1251">');
  });

  /** Lists and style sheets end a URL at white space. */
  const inOne = (url: string): string => url.replace(/\s/g, "");
  const LOADING = [
    "src",
    "href",
    "poster",
    "srcset",
    "action",
    "formaction",
    "background",
    "style",
    "xlink:href",
    "data",
  ];
  it("lets no absolute URL of the web stand in an attribute that loads, however it is written", () => {
    const element = fc.constantFrom(
      "img",
      "a",
      "script",
      "link",
      "iframe",
      "video",
      "form",
      "object",
      "body",
      "use",
      "input",
    );
    const written = fc.constantFrom(
      "http://t.test/x",
      " https://t.test/a?b&c",
      "//t.test",
      "HTTPS://T.test/",
      "h&#116;tp://t.test/",
      "http:\\\\t.test\\x",
      "ht\ntp://t.test/",
    );
    const quote = fc.constantFrom('"', "'");
    const one = fc.tuple(element, fc.constantFrom(...LOADING), written, quote).map(([name, attribute, url, q]) => {
      const value =
        attribute === "style" ? `background:url(${inOne(url)})` : attribute === "srcset" ? `${inOne(url)} 2x` : url;
      return `<${name} id=x ${attribute}=${q}${value}${q} class='y'></${name}>`;
    });
    fc.assert(
      fc.property(fc.array(one, { maxLength: 6 }), (parts) => {
        const text = html(parts.filter((part) => !/^<(?!object).* data=/.test(part)).join("\n"));
        for (const [, value = ""] of text.matchAll(
          / (?:src|href|poster|action|formaction|background|xlink:href|data|srcset)="([^"]*)"/g,
        )) {
          expect(value).toMatch(/^\/20260102030405(\w\w_)?\/https?:\/\/t\.test\//);
        }
      }),
    );
  });
});

describe("scripts", () => {
  const PAGE = "https://site.test/dir/page";
  it.each([
    ["import a from './a.js'", `import a from '${to("js_", "https://site.test/dir/a.js")}'`],
    ['export * from "https://cdn.test/m.js"', `export * from "${to("js_", "https://cdn.test/m.js")}"`],
    ["import 'bare'", "import 'bare'"],
    [
      "const m = import('/x.js')",
      `const m = import((globalThis.__archivedReference||(u=>u))("${to("js_", "https://site.test/x.js")}","${PAGE}"))`,
    ],
    ["import(name + '.js')", `import((globalThis.__archivedReference||(u=>u))(name + '.js',"${PAGE}"))`],
    ["const { url } = import.meta", `import.meta.url="${PAGE}";const { url } = import.meta`],
    ["const text = \"import 'x'\"", "const text = \"import 'x'\""],
    ["this is ( no script", "this is ( no script"],
  ])("%s", (source, expected) => {
    expect(rewriteScript(source, context)).toBe(expected);
  });

  it("may be named by a map", () => {
    const map = {
      imports: { app: "/app.js", "https://cdn.test/": "./cdn/", none: null },
      scopes: { "/a/": { x: "x.js" } },
      integrity: {},
    };
    expect(JSON.parse(rewriteImportMap(JSON.stringify(map), context, context.url))).toEqual({
      imports: {
        app: to("js_", "https://site.test/app.js"),
        [to("js_", "https://cdn.test/")]: to("js_", "https://site.test/dir/cdn/"),
        none: null,
      },
      scopes: { [to("js_", "https://site.test/a/")]: { x: "x.js" } },
    });
    expect(rewriteImportMap("no map", context, context.url)).toBe("no map");
  });
});

it.each([
  ["5; url=next", "5; url=[next]"],
  ["0;URL='next'", "0;URL=[next]"],
  ["5", "5"],
  ["5,next", "5,[next]"],
])("a refresh: %s", (content, expected) => {
  expect(rewriteRefresh(content, (reference) => `[${reference}]`)).toBe(expected);
});

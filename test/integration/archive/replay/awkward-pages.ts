/**
 * Pages that refer to things in the ways that players of archives get wrong, and what they refer to, as records of an
 * archive. In every text `[name]` is the URL of what is referred to by that name, `[/name]` its path, `[css name]` and
 * `[html name]` the URL with the escapes of such a text. Whatever else has such brackets stays as it is.
 */
import { http, record } from "../warc-records.ts";

export const SITE = "https://awkward.test";
export const CDN = "https://cdn.awkward.test";
const DATE = "2026-01-02T03:04:05Z";

const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

type Sent = readonly [type: string, body: string | Buffer];
/** What is referred to, by the end of its name. */
const SENT: Readonly<Record<string, Sent>> = {
  png: ["image/png", PNG],
  js: ["text/javascript", ""],
  css: ["text/css", "a{}"],
  html: ["text/html", "<!doctype html><title>t</title>"],
  json: ["application/json", "{}"],
  woff2: ["font/woff2", "x"],
  svg: [
    "image/svg+xml",
    '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><symbol id="i" viewBox="0 0 9 9"><rect width="9" height="9"/></symbol></svg>',
  ],
  vtt: ["text/vtt", "WEBVTT\n"],
  mp4: ["video/mp4", "x"],
};

interface AwkwardPage {
  /** Parts of the page; `NAME` or `NAME.js` in front of each says what it refers to. */
  references: Readonly<Record<string, string>>;
  /** With `%` where the references go. */
  around?: string;
  type?: string;
  headers?: string;
  /** What else is archived, by its URL. */
  files?: Readonly<Record<string, Sent>>;
}

const sheet = "<!doctype html><title>t</title><style>%</style>";
/** Elements for rules, which apply to one each. */
const inStyle = (rules: Readonly<Record<string, string>>): AwkwardPage => ({
  around: `${sheet}${Object.keys(rules)
    .map((name) => `<p id="${name.replace(/\.\w+$/, "")}">x</p>`)
    .join("")}`,
  references: rules,
});
const script = (code: string): string => `<script>try{${code}}catch(e){console.error("page",e)}</script>`;
const scripts = (codes: Readonly<Record<string, string>>): AwkwardPage => ({
  references: Object.fromEntries(Object.entries(codes).map(([name, code]) => [name, script(`{${code}}`)])),
});
const image = (name: string): string => `new Image().src='[${name}]'`;
const XHTML = "http://www.w3.org/1999/xhtml";
const SVG = "http://www.w3.org/2000/svg";
const js = (code: string): Sent => ["text/javascript", code];
const html = (body: string): Sent => ["text/html", `<!doctype html><title>t</title>${body}`];
const framed = (url: string): string => `<iframe src="${url}"></iframe>`;

export const PAGES: Readonly<Record<string, AwkwardPage>> = {
  "css-escapes": inStyle({
    "esc-function": "#esc-function{background:\\75 \\72 \\6C([esc-function])}",
    "esc-function-short": "#esc-function-short{background:ur\\l([esc-function-short])}",
    "esc-upper": "#esc-upper{background:URL([esc-upper])}",
    "esc-url": "#esc-url{background:url([css esc-url])}",
    "esc-string": '#esc-string{background:url("[css esc-string]")}',
    "esc-space": "#esc-space{background:url(  '[esc-space]'  )}",
    "esc-property": "#esc-property{b\\61 ckground:url([esc-property])}",
    "esc-comment": "#esc-comment{background:/*url(x)*/url([esc-comment])/*)*/}",
    "esc-line": "#esc-line{background:url('https://awkward.test\\\n/r/esc-line.png')}",
    "esc-set": "#esc-set{background-image:image-set('[css esc-set]' 1x)}",
    "esc-variable": "#esc-variable{--\\69:url([esc-variable]);background:var(--i)}",
  }),
  "css-imports": {
    references: {
      "imp-string.css": "<style>@import '[imp-string.css]';</style>",
      "imp-upper.css": "<style>@IMPORT URL('[imp-upper.css]');</style>",
      "imp-escape.css": "<style>@\\69mport '[imp-escape.css]';</style>",
      "imp-escaped.css": "<style>@import '[css imp-escaped.css]';</style>",
      "imp-media.css": "<style>@import url([imp-media.css]) screen and (min-width:1px);</style>",
      "imp-layer.css": "<style>@import '[imp-layer.css]' layer(a) supports(display:block);</style>",
      "imp-comment.css": "<style>/* @import 'x' */@import/**/'[imp-comment.css]';</style>",
      "imp-charset.css": "<style>@charset 'utf-8';@import '[/imp-charset.css]';</style>",
      "imp-cdo.css": "<style><!-- @import '[imp-cdo.css]'; --></style>",
      "imp-two.css": "<style>@import 'data:text/css,';@import '[imp-two.css]';</style>",
      "imp-nested.css": `<link rel=stylesheet href="${CDN}/deep/nested.css">`,
      "imp-nested-image": "<p id=imp-nested-image>x</p>",
      "imp-data.css": `<link rel=stylesheet href="data:text/css,@import '[imp-data.css]';">`,
    },
    files: {
      [`${CDN}/deep/nested.css`]: ["text/css", "@import './more.css';"],
      [`${CDN}/deep/more.css`]: [
        "text/css",
        "@import '[imp-nested.css]';#imp-nested-image{background:url([imp-nested-image])}",
      ],
    },
  },
  "css-values": inStyle({
    "set-quoted": "#set-quoted{background-image:image-set('[set-quoted]' 1x)}",
    "set-double": '#set-double{background-image:image-set("[/set-double]" 1x,"data:image/png," 9x)}',
    "set-type": "#set-type{background-image:image-set('[set-type]' type('image/png') 1x)}",
    "set-url": "#set-url{background-image:image-set(url([set-url]) 1x)}",
    "set-webkit": "#set-webkit{background-image:-webkit-image-set(url('[set-webkit]') 1x)}",
    "set-upper": "#set-upper{background-image:IMAGE-SET('[set-upper]' 1x)}",
    "val-fade": "#val-fade{background-image:-webkit-cross-fade(url([val-fade]),url(data:,),50%)}",
    "val-two": "#val-two{background:url(data:,),url([val-two])}",
    "val-border": "#val-border{border:1px solid;border-image:url([val-border]) 1}",
    "val-list": "#val-list{display:list-item;list-style:url([val-list])}",
    "val-shape": "#val-shape{float:left;shape-outside:url([val-shape])}",
    "val-mask": "#val-mask{-webkit-mask:url([val-mask])}",
    "val-before": "#val-before::before{content:url([val-before])}",
    "val-media": "@media all{@supports (display:block){#val-media{background:url([val-media])}}}",
    "val-nested": "#val-nested{&{background:url([val-nested])}}",
    "val-layer": "@layer a{#val-layer{background:url([val-layer])}}",
    "val-line": "#val-line::first-line{background:url([val-line])}",
    "val-property": "#val-property{--u:'[x]';--v:url([val-property]);background:var(--none,var(--v))}",
    "val-font.woff2":
      "@font-face{font-family:vf;src:local(none),url([val-font.woff2])format('woff2')}#val-font{font-family:vf}",
    "val-relative": "#val-relative{background:url(../r/val-relative.png)}",
    "val-http": "#val-http{background:url(//awkward.test/r/val-http.png)}",
  }),
  "css-attributes": {
    references: {
      "att-quot": '<p style="background:url(&quot;[att-quot]&quot;)">x</p>',
      "att-entity": '<p style="background:url([html att-entity])">x</p>',
      "att-number": '<p style="background&#58;url([att-number])">x</p>',
      "att-bare": "<p style=background:url([att-bare])>x</p>",
      "att-set": "<p style=\"background-image:image-set('[att-set]' 1x)\">x</p>",
      "att-svg": '<svg style="background:url([att-svg])"></svg>',
      "att-escape": '<p style="background:u\\72l([att-escape])">x</p>',
    },
  },
  images: {
    references: {
      "img-space": "<img src=' [img-space] '>",
      "img-protocol": "<img src='//awkward.test/r/img-protocol.png'>",
      "img-backslash": "<img src='https:\\\\awkward.test\\r\\img-backslash.png'>",
      "img-upper": "<IMG SRC='HTTPS://AWKWARD.test/r/img-upper.png'>",
      "img-entity": "<img src='[html img-entity]'>",
      "img-newline": "<img src='https://awkward.test/r/img-\nnewline.png'>",
      "img-dots": "<img src='/a/b/../.././r/img-dots.png'>",
      "img-fragment": "<img src='[img-fragment]#x'>",
      "img-image": "<image src='[img-image]'>",
      "img-twice": "<img src='[img-twice]' src='x'>",
      "img-lazy": "<img loading=lazy src='[img-lazy]'>",
      "img-widths": "<img sizes=1px srcset='[img-widths] 1w'>",
      "img-candidates": "<img srcset='data:image/png,x 9x, [img-candidates] 1x'>",
      "img-commas": "<img srcset=',[img-commas],'>",
      "img-picture": "<picture><source media='(min-width:1px)' srcset='[/img-picture]'><img src='data:,'></picture>",
      "img-type": "<picture><source type='image/png' srcset='[img-type]'><img></picture>",
      "img-svg": "<svg><image href='[img-svg]'/></svg>",
      "img-foreign": "<svg><foreignObject width=9 height=9><img src='[img-foreign]'></foreignObject></svg>",
      "img-pattern":
        "<svg><pattern id=pt width=9 height=9><image href='[img-pattern]' width=9 height=9 /></pattern><rect width=9 height=9 fill='url(#pt)'/></svg>",
      "img-cell": "<table><tr><td background='[img-cell]'>x</table>",
      "img-head": "<table><tr><th background='[img-head]'>x</table>",
      "img-poster": "<video poster='[/img-poster]'></video>",
      "img-object": "<object data='[img-object]'></object>",
      "img-embed": "<embed src='[img-embed]'>",
      "img-redirect": "<img src='/moved/img-redirect'>",
      "img-http": "<img src='http://awkward.test/r/img-http.png'>",
      "img-port": "<img src='https://awkward.test:443/r/img-port.png'>",
    },
  },
  body: {
    around: "<!doctype html><title>t</title><body background='[body-image]'>%",
    references: { "body-image": "" },
  },
  base: {
    around: `<!doctype html><title>t</title><base href="${CDN}/deep/"><base href="https://other.awkward.test/">%`,
    references: {
      "base-image": "<img src='../../base-image.png'>",
      "base-root": "<img src='/base-root.png'>",
      "base-srcset": "<img srcset='/base-srcset.png 1x'>",
      "base-style": "<p style='background:url(/base-style.png)'>x</p>",
      "base-sheet": "<style>#bs{background:url(../base-sheet.png)}</style><p id=bs>x</p>",
      "base-script.js": "<script src='/base-script.js'></script>",
      "base-link.css": "<link rel=stylesheet href='../base-link.css'>",
      "base-fetch.json": script("fetch('../base-fetch.json')"),
      "base-fetch-root.json": script("fetch('/base-fetch-root.json')"),
      "base-xhr.json": script("const x=new XMLHttpRequest();x.open('GET','../base-xhr.json');x.send()"),
      "base-new": script("new Image().src='../base-new.png'"),
      "base-import.js": script("import('../base-import.js')"),
      "base-module.js": "<script type=module>import '../base-module.js'</script>",
      "base-worker.js": script("new Worker('../base-worker.js')"),
      "base-frame.html": framed("../base-frame.html"),
      "base-srcdoc": '<iframe srcdoc="<img src=../base-srcdoc.png>"></iframe>',
    },
  },
  "base-relative": {
    around: '<!doctype html><title>t</title><base href="/r/" target=_top>%',
    references: {
      "rel-image": "<img src=rel-image.png>",
      "rel-fetch.json": script("fetch('rel-fetch.json')"),
      "rel-made": script("document.querySelector('base').href='/none/';new Image().src='/r/rel-made.png'"),
    },
  },
  srcdoc: {
    references: {
      "doc-image": '<iframe srcdoc="<img src=[doc-image]>"></iframe>',
      "doc-entity": '<iframe srcdoc="&lt;img src=&quot;[doc-entity]&quot;&gt;"></iframe>',
      "doc-style": '<iframe srcdoc="<style>body{background:url([doc-style])}</style>x"></iframe>',
      "doc-script": `<iframe srcdoc="<script>${image("doc-script")}</script>"></iframe>`,
      "doc-fetch.json": `<iframe srcdoc="<script>fetch('[/doc-fetch.json]')</script>"></iframe>`,
      "doc-nested": "<iframe srcdoc=\"<iframe srcdoc='<img src=[doc-nested]>'></iframe>\"></iframe>",
      "doc-root": '<iframe srcdoc="<img src=[/doc-root]>"></iframe>',
      "doc-set": script(
        "const f=document.createElement('iframe');f.srcdoc='<img src=[doc-set]>';document.documentElement.append(f)",
      ),
      "doc-set-script": script(
        "const f=document.createElement('iframe');f.srcdoc='<script>new Image().src=\"[doc-set-script]\"</scr'+'ipt>';document.documentElement.append(f)",
      ),
      "doc-set-attribute": script(
        "const f=document.createElement('iframe');f.setAttribute('srcdoc','<img src=[doc-set-attribute]>');document.documentElement.append(f)",
      ),
      "doc-inner": script(
        "const d=document.createElement('div');d.innerHTML='<iframe srcdoc=\"<img src=[doc-inner]>\"></iframe>';document.documentElement.append(d)",
      ),
      "doc-write": script(
        "const f=document.createElement('iframe');document.documentElement.append(f);f.contentDocument.write('<img src=[doc-write]>');f.contentDocument.close()",
      ),
      "doc-blank": script(
        "const f=document.createElement('iframe');document.documentElement.append(f);new f.contentWindow.Image().src='[doc-blank]'",
      ),
      "doc-blank-fetch.json": script(
        "const f=document.createElement('iframe');document.documentElement.append(f);f.contentWindow.fetch('[doc-blank-fetch.json]')",
      ),
    },
  },
  frames: {
    references: {
      "frm-lazy.html": "<iframe loading=lazy src='[frm-lazy.html]'></iframe>",
      "frm-protocol.html": framed("//awkward.test/r/frm-protocol.html"),
      "frm-object.html": "<object data='[frm-object.html]' type=text/html></object>",
      "frm-embed.html": "<embed src='[frm-embed.html]' type=text/html>",
      "frm-redirect.html": framed("/moved/frm-redirect.html"),
      "frm-nested.html": framed(`${CDN}/frame/nest.html`),
      "frm-refresh.html": framed("/frame/refresh.html"),
      "frm-refresh-quoted.html": framed("/frame/refresh-quoted.html"),
      "frm-refresh-header.html": framed("/frame/refresh-header.html"),
      "frm-name.html": `<iframe name=fn></iframe><a id=fa target=fn href='[frm-name.html]'>x</a>${script("fa.click()")}`,
      "frm-form.html?q=1":
        "<iframe name=ff></iframe><form id=fg target=ff action='/r/frm-form.html'><input name=q value=1></form>" +
        script("fg.submit()"),
      "frm-script.html": framed("/frame/script.html"),
      "frm-frameset.html": framed("/frame/set.html"),
      "frm-xhtml": framed("/frame/page.xhtml"),
      "frm-location.html": framed("/frame/location.html"),
      "frm-blank":
        "<iframe id=fb src='about:blank'></iframe>" +
        script("fb.contentDocument.body.innerHTML='<img src=[frm-blank]>'"),
      "frm-javascript": "<iframe src=\"javascript:'<img src=[frm-javascript]>'\"></iframe>",
      "frm-blob": script(
        "const f=document.createElement('iframe');f.src=URL.createObjectURL(new Blob(['<img src=[frm-blob]>'],{type:'text/html'}));document.documentElement.append(f)",
      ),
    },
    files: {
      [`${CDN}/frame/nest.html`]: html(framed("deeper.html")),
      [`${CDN}/frame/deeper.html`]: html(framed("[frm-nested.html]")),
      [`${SITE}/frame/refresh.html`]: html("<meta http-equiv=refresh content='0;url=[/frm-refresh.html]'>"),
      [`${SITE}/frame/refresh-quoted.html`]: html(
        "<META HTTP-EQUIV=Refresh CONTENT=\"0 ; URL='[frm-refresh-quoted.html]'\">",
      ),
      [`${SITE}/frame/script.html`]: html(
        script(
          "const f=document.createElement('iframe');f.src='[/frm-script.html]';document.documentElement.append(f)",
        ),
      ),
      [`${SITE}/frame/set.html`]: ["text/html", "<frameset cols=*><frame src='[frm-frameset.html]'></frameset>"],
      [`${SITE}/frame/page.xhtml`]: [
        "application/xhtml+xml",
        `<html xmlns="${XHTML}"><head><title>x</title></head><body><object data="[frm-xhtml]"/></body></html>`,
      ],
      [`${SITE}/frame/location.html`]: html(
        "<a id=a href='[/frm-location.html]'>x</a><script>location=a.href</script>",
      ),
    },
  },
  svg: {
    references: Object.fromEntries(
      [
        "svg-image",
        "svg-xlink",
        "svg-style",
        "svg-sheet.css",
        "svg-import.css",
        "svg-script.js",
        "svg-script-xlink.js",
        "svg-inline",
        "svg-fetch.json",
        "svg-foreign",
        "svg-fe",
        "svg-attribute",
        "svg-entity",
        "svg-cdata",
        "svg-use.svg",
        "svg-base",
      ].map((name) => [name, name === "svg-image" ? framed("/frame/drawing.svg") : ""]),
    ),
    files: {
      [`${SITE}/frame/drawing.svg`]: [
        "image/svg+xml",
        `<?xml version="1.0"?><?xml-stylesheet type='text/css' href='[svg-sheet.css]'?>
<svg xmlns="${SVG}" xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:h="${XHTML}" width="99" height="99">
<style>@import '[svg-import.css]';#a{background:url([svg-style])}</style><style><![CDATA[#b{background:url([svg-cdata])}]]></style>
<image href="[svg-image]" width="9" height="9"/><image xlink:href="[svg-xlink]" width="9" height="9"/>
<image href="[html svg-entity]" width="9" height="9"/><image href="../r/svg-base.png" width="9" height="9"/>
<script href="[svg-script.js]"/><script xlink:href="[/svg-script-xlink.js]"/>
<script>${image("svg-inline")};fetch('[svg-fetch.json]')</script>
<foreignObject width="9" height="9"><h:img src="[svg-foreign]"/><h:p id="a">x</h:p><h:p id="b">x</h:p><h:p style="background:url([svg-attribute])">x</h:p></foreignObject>
<filter id="f"><feImage href="[svg-fe]"/></filter><rect width="9" height="9" filter="url(#f)"/>
<use href="[svg-use.svg]#i"/></svg>`,
      ],
    },
  },
  "svg-in-html": {
    references: {
      "use-href.svg": "<svg><use href='[use-href.svg]#i'/></svg>",
      "use-xlink.svg": "<svg><use xlink:href='[/use-xlink.svg]#i'/></svg>",
      "use-made.svg": script(
        "const s=document.createElementNS('http://www.w3.org/2000/svg','svg');const u=document.createElementNS('http://www.w3.org/2000/svg','use');u.setAttribute('href','[use-made.svg]#i');s.append(u);document.documentElement.append(s)",
      ),
      "use-value": script(
        "const s=document.createElementNS('http://www.w3.org/2000/svg','svg');const u=document.createElementNS('http://www.w3.org/2000/svg','image');u.href.baseVal='[use-value]';s.append(u);document.documentElement.append(s)",
      ),
    },
  },
  xslt: {
    references: {
      "xsl-image": framed("/frame/books.xml"),
      "xsl-style": "",
      "xsl-script": "",
      "xsl-relative": "",
      "xsl-text": "",
      "xsl-xhtml": framed("/frame/books-two.xml"),
    },
    files: {
      [`${SITE}/frame/books.xml`]: [
        "application/xml",
        `<?xml version="1.0"?><?xml-stylesheet type="text/xsl" href="xsl/books.xsl?a=1&amp;b=2"?><books><book cover="[xsl-text]"/></books>`,
      ],
      [`${SITE}/frame/xsl/books.xsl?a=1&b=2`]: [
        "text/xsl",
        `<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"><xsl:output method="html"/>
<xsl:template match="/"><html><head><title>t</title><style>p{background:url([xsl-style])}</style></head><body><p>x</p>
<img src="[xsl-image]"/><img src="../r/xsl-relative.png"/><img src="{books/book/@cover}"/><script>${image("xsl-script")}</script></body></html></xsl:template></xsl:stylesheet>`,
      ],
      [`${SITE}/frame/books-two.xml`]: ["text/xml", `<?xml-stylesheet href="[//xsl]" type="text/xml"?><books/>`],
      [`${SITE}/frame/two.xsl`]: [
        "application/xslt+xml",
        `<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform" xmlns="${XHTML}">
<xsl:template match="/"><html><head><title>t</title></head><body><img src="[xsl-xhtml]"/></body></html></xsl:template></xsl:stylesheet>`,
      ],
    },
  },
  modules: {
    around: `<!doctype html><title>t</title><script type=importmap>{"imports":{"bare":"[mod-bare.js]","dir/":"/r/"},"scopes":{"/scoped/":{"bare":"[mod-scope.js]"}}}</script>%`,
    references: {
      "mod-static.js": "<script type=module>import '[mod-static.js]'</script>",
      "mod-export.js": "<script type=module>export * from '[/mod-export.js]'</script>",
      "mod-named.js": "<script type=module>import * as all from '[mod-named.js]';all</script>",
      "mod-bare.js": "<script type=module>import 'bare'</script>",
      "mod-dir.js": "<script type=module>import('dir/mod-dir.js')</script>",
      "mod-scope.js": "<script type=module src='/scoped/one.js'></script>",
      "mod-json.json": "<script type=module>import j from '[mod-json.json]' with {type:'json'};j</script>",
      "mod-css.css": "<script type=module>import s from '[mod-css.css]' with {type:'css'};s</script>",
      "mod-dynamic.js": "<script type=module>import(['[mod-dynamic.js]'].join())</script>",
      "mod-computed.js": `<script type=module src='${CDN}/mod/computed.js'></script>`,
      "mod-classic.js": `<script src='${CDN}/mod/classic.js'></script>`,
      "mod-meta": `<script type=module src='${CDN}/mod/meta.js'></script>`,
      "mod-meta-index": "",
      "mod-meta-taken": "",
      "mod-meta-is": "",
      "mod-meta-resolve": "",
      "mod-meta-worker.js": "",
      "mod-inline-meta":
        "<script type=module>new Image().src=new URL('../r/mod-inline-meta.png',import.meta.url)</script>",
      "mod-preload.js": "<link rel=modulepreload href='[mod-preload.js]'>",
      "mod-eval.js": "<script type=module>(0,eval)(\"import('[mod-eval.js]')\")</script>",
      "mod-async.js": "<script async type=module src='[mod-async.js]'></script>",
      "mod-made.js": script(
        "const s=document.createElement('script');s.type='module';s.textContent=\"import '[mod-made.js]'\";document.head.append(s)",
      ),
      "mod-blob.js": script(
        "import(URL.createObjectURL(new Blob([\"import '[mod-blob.js]'\"],{type:'text/javascript'})))",
      ),
    },
    files: {
      [`${SITE}/scoped/one.js`]: js("import 'bare'"),
      [`${CDN}/mod/computed.js`]: js("const name='up';import('../mod/'+name+'.js')"),
      [`${CDN}/mod/up.js`]: js("import '[mod-computed.js]'"),
      [`${CDN}/mod/classic.js`]: js("const name='cl';import('./'+name+'.js')"),
      [`${CDN}/mod/cl.js`]: js("import '[mod-classic.js]'"),
      [`${CDN}/mod/meta.js`]: js(
        `const to=(name)=>'${SITE}/r/'+name;const img=(url)=>{new Image().src=url};
img(new URL('../../r/'+'x',import.meta.url).origin==='${CDN}'?to('mod-meta.png'):'data:,');
img(import.meta['url']==='${CDN}/mod/meta.js'?to('mod-meta-index.png'):'data:,');
const {url}=import.meta;img(url==='${CDN}/mod/meta.js'?to('mod-meta-taken.png'):'data:,');
const meta=import.meta;img(String(meta.url).startsWith('${CDN}/')?to('mod-meta-is.png'):'data:,');
img(import.meta.resolve('${SITE}/r/mod-meta-resolve.png'));
new Worker(new URL('./meta-worker.js',import.meta.url),{type:'module'})`,
      ),
      [`${CDN}/mod/meta-worker.js`]: js("import '[mod-meta-worker.js]'"),
    },
  },
  workers: {
    references: {
      "wrk-classic.js": script("new Worker('[wrk-classic.js]')"),
      "wrk-module.js": script("new Worker('[wrk-module.js]',{type:'module'})"),
      "wrk-module-import.js": script(`new Worker('${CDN}/wrk/module.js',{type:'module',name:'m'})`),
      "wrk-module-meta": "",
      "wrk-module-fetch.json": "",
      "wrk-module-message": "",
      "wrk-import.js": script(`new Worker('${CDN}/wrk/classic.js')`),
      "wrk-import-relative.js": "",
      "wrk-fetch.json": "",
      "wrk-xhr.json": "",
      "wrk-location.json": "",
      "wrk-location-path.json": "",
      "wrk-dynamic.js": "",
      "wrk-nested.js": "",
      "wrk-blob.js": script(
        "new Worker(URL.createObjectURL(new Blob([\"importScripts('[wrk-blob.js]')\"],{type:'text/javascript'})))",
      ),
      "wrk-blob-fetch.json": script(
        "new Worker(URL.createObjectURL(new Blob([\"fetch('[wrk-blob-fetch.json]')\"],{type:'text/javascript'})))",
      ),
      "wrk-blob-module.js": script(
        "new Worker(URL.createObjectURL(new Blob([\"import '[wrk-blob-module.js]'\"],{type:'text/javascript'})),{type:'module'})",
      ),
      "wrk-data.json": script("new Worker(\"data:text/javascript,fetch('[wrk-data.json]')\")"),
      "wrk-message": script(
        `const w=new Worker('${CDN}/wrk/echo.js');w.onmessage=(e)=>{if(e.data==='pong')${image("wrk-message")}};w.postMessage('ping')`,
      ),
      "wrk-error": script(
        `const w=new Worker('${SITE}/wrk/not-archived.js',{type:'module'});w.onerror=()=>{${image("wrk-error")}}`,
      ),
      "wrk-worklet.js": script("new OfflineAudioContext(1,1,44100).audioWorklet.addModule('[wrk-worklet.js]')"),
    },
    files: {
      [`${CDN}/wrk/module.js`]: js(
        `import '[wrk-module-import.js]';fetch(import.meta.url==='${CDN}/wrk/module.js'?'[wrk-module-meta]':'/none');
fetch(new URL('[/wrk-module-fetch.json]','${SITE}'));fetch(self.name==='m'&&location.href==='${CDN}/wrk/module.js'?'[wrk-module-message]':'/none')`,
      ),
      [`${CDN}/wrk/classic.js`]: js(
        `importScripts('[wrk-import.js]');importScripts('../wrk/more.js');fetch('[wrk-fetch.json]');
const x=new XMLHttpRequest();x.open('GET','[wrk-xhr.json]');x.send();
if(location.href==='${CDN}/wrk/classic.js')fetch(new URL('x',location).origin==='${CDN}'?'[wrk-location.json]':'/none');
if(self.location.pathname==='/wrk/classic.js'&&location.host==='cdn.awkward.test')fetch('[wrk-location-path.json]');
import('[wrk-dynamic.js]');new Worker('[wrk-nested.js]')`,
      ),
      [`${CDN}/wrk/more.js`]: js("importScripts('[wrk-import-relative.js]')"),
      [`${CDN}/wrk/echo.js`]: js("onmessage=(e)=>postMessage(e.data==='ping'?'pong':'?')"),
    },
  },
  messages: {
    references: {
      "msg-origin": `<iframe id=mo src='${CDN}/msg/widget.html'></iframe>${script(
        `addEventListener('message',(e)=>{if(e.origin!=='${CDN}')return;
if(e.data.kind==='hello'){${image("msg-origin")};if(e.source===mo.contentWindow)${image("msg-source")};
e.source.postMessage({kind:'reply'},e.origin);mo.contentWindow.postMessage({kind:'direct'},'${CDN}');
mo.contentWindow.postMessage({kind:'elsewhere'},'https://elsewhere.test');mo.contentWindow.postMessage({kind:'options'},{targetOrigin:'${CDN}'});
const c=new MessageChannel();c.port1.onmessage=(p)=>{if(p.data==='port')${image("msg-port")}};mo.contentWindow.postMessage({kind:'port'},'*',[c.port2])}
if(e.data.kind==='named')${image("msg-target")}})`,
      )}`,
      "msg-source": "",
      "msg-reply": "",
      "msg-direct": "",
      "msg-options": "",
      "msg-port": "",
      "msg-target": "",
      "msg-parent-origin": "",
      "msg-self": script(
        `addEventListener('message',(e)=>{if(e.data==='self'&&e.source===window&&e.origin==='${SITE}')${image("msg-self")}});window.postMessage('self','${SITE}')`,
      ),
      "msg-self-location": script(
        `addEventListener('message',(e)=>{if(e.data==='loc')${image("msg-self-location")}});postMessage('loc',location.origin)`,
      ),
      "msg-slash": script(
        `addEventListener('message',(e)=>{if(e.data==='slash')${image("msg-slash")}});window.postMessage('slash','/')`,
      ),
      "msg-handler": script(
        `const c=new MessageChannel();c.port1.onmessage=(e)=>{if(e.data.a===1&&e.origin==='')${image("msg-handler")}};c.port2.postMessage({a:1})`,
      ),
    },
    files: {
      [`${CDN}/msg/widget.html`]: html(
        script(
          `addEventListener('message',(e)=>{const k=e.data.kind;if(k==='elsewhere')fetch('https://elsewhere.test/leaked');
if(e.origin==='${SITE}'&&e.source===parent)${image("msg-parent-origin")};
if(k==='reply')${image("msg-reply")};if(k==='direct')${image("msg-direct")};if(k==='options')${image("msg-options")};if(k==='port')e.ports[0].postMessage('port')});
parent.postMessage({kind:'hello'},'*');parent.postMessage({kind:'named'},'${SITE}')`,
        ),
      ),
    },
  },
  scripted: scripts({
    "scr-style-text": "document.documentElement.style.cssText='background:url([scr-style-text])'",
    "scr-style-property":
      "document.head.style.display='block';document.head.style.setProperty('background-image','url([scr-style-property])')",
    "scr-style-index":
      "const p=document.createElement('p');p.style['background-image']='url([scr-style-index])';document.documentElement.append(p)",
    "scr-style-short":
      "const p=document.createElement('p');p.style.background='url([scr-style-short])';document.documentElement.append(p)",
    "scr-style-attribute":
      "const p=document.createElement('p');p.setAttribute('style','background:url([scr-style-attribute])');document.documentElement.append(p)",
    "scr-style-set":
      "const p=document.createElement('p');p.style.backgroundImage=`image-set('[scr-style-set]' 1x)`;document.documentElement.append(p)",
    "scr-rule-style":
      "const s=document.createElement('style');s.textContent='#rs{}';document.head.append(s);s.sheet.cssRules[0].style.backgroundImage='url([scr-rule-style])';document.documentElement.append(Object.assign(document.createElement('p'),{id:'rs'}))",
    "scr-rule-import.css":
      "const s=document.createElement('style');document.head.append(s);s.sheet.insertRule(\"@import '[scr-rule-import.css]'\",0)",
    "scr-sheet":
      "const s=new CSSStyleSheet();s.replaceSync('#ss{background:url([scr-sheet])}');document.adoptedStyleSheets.push(s);document.documentElement.append(Object.assign(document.createElement('p'),{id:'ss'}))",
    "scr-animate":
      "document.documentElement.append(Object.assign(document.createElement('p'),{id:'an'}));document.getElementById('an').animate({backgroundImage:['url([scr-animate])','url([scr-animate])']},9999)",
    "scr-shadow":
      "const d=document.createElement('div');document.documentElement.append(d);d.attachShadow({mode:'open'}).innerHTML='<img src=[scr-shadow]>'",
    "scr-shadow-style":
      "const d=document.createElement('div');document.documentElement.append(d);d.attachShadow({mode:'closed'}).innerHTML='<style>p{background:url([scr-shadow-style])}</style><p>x</p>'",
    "scr-shadow-node":
      "const d=document.createElement('div');document.documentElement.append(d);const i=document.createElement('img');d.attachShadow({mode:'open'}).append(i);i.setAttribute('src','[scr-shadow-node]')",
    "scr-fragment":
      "document.documentElement.append(document.createRange().createContextualFragment('<img src=[scr-fragment]>'))",
    "scr-parser":
      "document.documentElement.append(document.adoptNode(new DOMParser().parseFromString('<img src=[scr-parser]>','text/html').body.firstChild))",
    "scr-attribute-value":
      "const i=document.createElement('img');i.setAttribute('src','');i.getAttributeNode('src').value='[scr-attribute-value]';document.documentElement.append(i)",
    "scr-attribute-node":
      "const i=document.createElement('img');const a=document.createAttribute('src');a.value='[scr-attribute-node]';i.setAttributeNode(a);document.documentElement.append(i)",
    "scr-assign": "Object.assign(new Image(),{srcset:'[scr-assign] 1x'})",
    "scr-url-object": "new Image().src=new URL('[scr-url-object]')",
    "scr-outer":
      "const d=document.createElement('div');document.documentElement.append(d);d.outerHTML='<img src=\"[scr-outer]\">'",
    "scr-inner-style":
      "const d=document.createElement('div');d.innerHTML='<p style=\"background:url([scr-inner-style])\">x</p>';document.documentElement.append(d)",
    "scr-inner-srcset":
      "const d=document.createElement('div');d.innerHTML='<img srcset=\"[scr-inner-srcset] 1x\">';document.documentElement.append(d)",
    "scr-inner-root":
      "const d=document.createElement('div');d.innerHTML='<img src=[/scr-inner-root]>';document.documentElement.append(d)",
    "scr-unsafe":
      "const d=document.createElement('div');d.setHTMLUnsafe('<img src=[scr-unsafe]>');document.documentElement.append(d)",
    "scr-write": "document.write('<img srcset=\"[scr-write] 1x\">')",
    "scr-write-style":
      "document.write('<style>html{list-style:url([scr-write-style])}li{display:list-item}</style><li>x')",
    "scr-source":
      "const v=document.createElement('picture');const s=document.createElement('source');s.srcset='[scr-source]';v.append(s,document.createElement('img'));document.documentElement.append(v)",
    "scr-poster": "const v=document.createElement('video');v.poster='[scr-poster]';document.documentElement.append(v)",
    "scr-video.mp4": "const v=document.createElement('video');v.src='[scr-video.mp4]';v.load()",
    "scr-track.vtt":
      "const v=document.createElement('video');const t=document.createElement('track');t.default=true;t.src='[scr-track.vtt]';v.append(t);document.documentElement.append(v)",
    "scr-object.svg":
      "const o=document.createElement('object');o.data='[scr-object.svg]';document.documentElement.append(o)",
    "scr-embed.svg":
      "const o=document.createElement('embed');o.type='image/svg+xml';o.src='[scr-embed.svg]';document.documentElement.append(o)",
    "scr-preload":
      "const l=document.createElement('link');l.rel='preload';l.as='image';l.href='[scr-preload]';document.head.append(l)",
    "scr-preload-set":
      "const l=document.createElement('link');l.rel='preload';l.as='image';l.imageSrcset='[scr-preload-set] 1x';document.head.append(l)",
    "scr-eval.js": "eval(\"import('[scr-eval.js]')\")",
    "scr-function.js": "new Function(\"return import('[scr-function.js]')\")()",
    "scr-timeout": "setTimeout(\"new Image().src='[scr-timeout]'\",0)",
    "scr-text.js":
      "const s=document.createElement('script');s.text=\"import('[scr-text.js]')\";document.head.append(s)",
    "scr-fetch-url.json": "fetch(new URL('[scr-fetch-url.json]'))",
    "scr-fetch-head.json": "fetch('[scr-fetch-head.json]',{method:'HEAD'})",
    "scr-fetch-location.json": "fetch(new URL('[/scr-fetch-location.json]',location.href))",
    "scr-fetch-base.json": "fetch(new URL('../r/scr-fetch-base.json',document.baseURI))",
    "scr-xhr-url.json": "const x=new XMLHttpRequest();x.open('GET',new URL('[scr-xhr-url.json]'),true);x.send()",
    "scr-xhr-sync.json": "const x=new XMLHttpRequest();x.open('GET','[scr-xhr-sync.json]',false);x.send()",
    "scr-keepalive.json": "fetch('[scr-keepalive.json]',{keepalive:true})",
    "scr-font.woff2": "const f=new FontFace('fx','url([scr-font.woff2])');document.fonts.add(f);f.load().catch(()=>{})",
  }),
  declared: {
    references: {
      "dcl-shadow": "<div><template shadowrootmode=open><img src='[dcl-shadow]'></template></div>",
      "dcl-shadow-style":
        "<div><template shadowrootmode=closed><style>p{background:url([dcl-shadow-style])}</style><p>x</p></template></div>",
      "dcl-alternate.css": "<link rel='alternate stylesheet' title=a href='[dcl-alternate.css]'>",
      "dcl-media.css": "<link rel=stylesheet media=print href='[dcl-media.css]'>",
      "dcl-upper.css": "<LINK REL=StyleSheet HREF='[dcl-upper.css]'>",
      "dcl-preload.css": "<link rel=preload as=style href='[dcl-preload.css]'>",
      "dcl-fetch.json": "<link rel=preload as=fetch crossorigin href='[dcl-fetch.json]'>",
      "dcl-charset.js": "<script charset=windows-1251 src='[dcl-charset.js]'></script>",
      "dcl-integrity.js": "<script integrity='sha384-x' crossorigin src='[dcl-integrity.js]'></script>",
      "dcl-nonce.js": "<script nonce=x src='[dcl-nonce.js]'></script>",
      "dcl-svg.js": "<svg><script xlink:href='[dcl-svg.js]'></script></svg>",
      "dcl-onload": `<img src='data:,' onerror="${image("dcl-onload")}">`,
      "dcl-policy": "<meta http-equiv=content-security-policy content=\"default-src 'none'\"><img src='[dcl-policy]'>",
      "dcl-noscript": "<noscript><img src='x'></noscript><img src='[dcl-noscript]'>",
      "dcl-comment": "<!-- <base href='https://other.awkward.test/'> --><img src='[/dcl-comment]'>",
      "dcl-textarea": "<textarea><base href='https://other.awkward.test/'></textarea><img src='[/dcl-textarea]'>",
      "dcl-input": "<input type=IMAGE src='[dcl-input]'>",
      "dcl-style-type": "<style type='TEXT/CSS'>#ds{background:url([dcl-style-type])}</style><p id=ds>x</p>",
    },
  },
  "legacy-charset": {
    type: "text/html; charset=windows-1251",
    references: {
      "old-path.png?word=%E2": "<img src='/r/old-path.png?word=\xe2'>",
      "old-sheet": "<link rel=stylesheet href='/frame/old.css'><p id=os>x</p>",
    },
    files: {
      [`${SITE}/frame/old.css`]: [
        "text/css; charset=windows-1251",
        "/* \xe2\xee */#os{background:url(../r/old-sheet.png)}",
      ],
    },
  },
  xhtml: {
    type: "application/xhtml+xml",
    around: `<?xml version="1.0"?><?xml-stylesheet type="text/css" href="[xht-sheet.css]"?><html xmlns="${XHTML}"><head><title>t</title><style><![CDATA[#xc{background:url([xht-cdata])}]]></style></head><body><p id="xc">x</p>%</body></html>`,
    references: {
      "xht-sheet.css": "",
      "xht-cdata": "",
      "xht-image": '<img src="[xht-image]" alt=""/>',
      "xht-entity": '<img src="[html xht-entity]" alt=""/>',
      "xht-script": `<script>//<![CDATA[\n${image("xht-script")}\n//]]></script>`,
      "xht-script-src.js": '<script src="[xht-script-src.js]"/>',
      "xht-svg": `<svg xmlns="${SVG}"><image href="[xht-svg]" width="9" height="9"/></svg>`,
      "xht-frame.html": '<iframe src="[xht-frame.html]"/>',
      "xht-style": '<p style="background:url([xht-style])">x</p>',
      "xht-fetch.json": "<script>fetch('[xht-fetch.json]')</script>",
    },
  },
};

const OUT = "https://outside.awkward.test";
/** What asks somebody else, in ways that players of the field let out. */
export const LEAVING: Readonly<Record<string, { body: string; headers?: string; type?: string }>> = {
  "refresh-header": { body: "x", headers: `Refresh: 0; url=${OUT}/refresh-header\r\n` },
  "refresh-meta": { body: `<meta http-equiv=refresh content='0;url=${OUT}/refresh-meta'>` },
  "refresh-odd": { body: `<META HTTP-EQUIV="REFRESH" CONTENT="0,&#117;rl=${OUT}/refresh-odd">` },
  "refresh-made": {
    body: script(
      `const m=document.createElement('meta');m.httpEquiv='refresh';m.content='0;url=${OUT}/refresh-made';document.head.append(m)`,
    ),
  },
  "speculation-rules": {
    body: `<script type=speculationrules>{"prefetch":[{"source":"list","urls":["${OUT}/prefetch"],"eagerness":"immediate"}],"prerender":[{"source":"list","urls":["${OUT}/prerender"],"eagerness":"immediate"}]}</script>`,
  },
  "speculation-made": {
    body: script(
      `const s=document.createElement('script');s.type='speculationrules';s.textContent=JSON.stringify({prefetch:[{source:'list',urls:['${OUT}/made'],eagerness:'immediate'}]});document.head.append(s)`,
    ),
  },
  "speculation-header": { body: "x", headers: `Speculation-Rules: "${OUT}/rules.json"\r\n` },
  "link-header": {
    body: "x",
    headers: `Link: <${OUT}/preload.css>; rel=preload; as=style, <${OUT}>; rel=preconnect, <${OUT}/next>; rel=prefetch\r\n`,
  },
  icons: {
    body: `<link rel=icon href=${OUT}/icon.png><link rel="shortcut icon" href=${OUT}/favicon.ico><link rel=apple-touch-icon href=${OUT}/touch.png><link rel=manifest href=${OUT}/manifest.json>`,
  },
  "icon-made": {
    body: script(
      `const l=document.createElement('link');l.rel='icon';l.href='${OUT}/made.ico';document.head.append(l)`,
    ),
  },
  "svg-animation": {
    type: "image/svg+xml",
    body: `<svg xmlns="${SVG}"><image href="x"><set attributeName="href" to="${OUT}/set.png"/></image><use href="${OUT}/use.svg#x"/></svg>`,
  },
  "xsl-document": {
    type: "application/xml",
    body: `<?xml-stylesheet type="text/xsl" href="${OUT}/sheet.xsl"?><!DOCTYPE a SYSTEM "${OUT}/a.dtd"><a/>`,
  },
  "data-frame": {
    body: `<iframe src="data:text/html,<img src=${OUT}/data.png><script>fetch('${OUT}/data')</script>"></iframe>`,
  },
  reports: {
    body: "<script>null.x</script>",
    headers: `NEL: {"report_to":"d","max_age":99,"success_fraction":1}\r\nReport-To: {"group":"d","max_age":99,"endpoints":[{"url":"${OUT}/nel"}]}\r\nReporting-Endpoints: d="${OUT}/reports"\r\nContent-Security-Policy-Report-Only: default-src 'none'; report-uri ${OUT}/csp\r\n`,
  },
};

export const urlOf = (name: string): string => `${SITE}/r/${/\.\w+(\?.*)?$/.test(name) ? name : `${name}.png`}`;
const BASED = new Set(Object.keys(PAGES["base"]?.references ?? {}));
/** Where it is archived. */
export const archivedAt = (name: string): string =>
  BASED.has(name) ? `${CDN}/${/\.\w+$/.test(name) ? name : `${name}.png`}` : urlOf(name);

const named = (text: string): string =>
  text
    .replaceAll("[//xsl]", `${SITE}/frame/two.xsl`)
    .replace(
      /\[(css |html |\/)?([a-z]+-[a-z0-9-]+(?:\.\w+)?|body-image)\]/g,
      (_, how: string | undefined, name: string) => {
        const url = urlOf(name);
        if (how === "/") return new URL(url).pathname;
        if (how === "css ") return url.replace(/^https/, "\\68 \\000074tp\\73 ").replace("/r/", "/\\72 /");
        if (how === "html ") return url.replace("https:", "&#x68;&#116;tps&#58;");
        return url;
      },
    );

const bytes = (body: string | Buffer, type: string): Buffer =>
  typeof body !== "string" ? body : Buffer.from(named(body), type.includes("1251") ? "latin1" : "utf8");

/** All of it; each page at `SITE/pages/NAME`, and `SITE/leaving/NAME`. */
export function awkwardSite(): Buffer[] {
  const at = (url: string, block: Buffer) => record(block, { url, date: DATE });
  const sent = (url: string, [type, body]: Sent, headers = "") =>
    at(url, http(bytes(body, type), `Content-Type: ${type}\r\n${headers}`));
  const pages = Object.entries(PAGES).flatMap(
    ([name, { references, around, type = "text/html", headers, files = {} }]) => {
      const body = (around ?? "<!doctype html><title>t</title><body>%").replace("%", () =>
        Object.values(references).join("\n"),
      );
      return [
        sent(`${SITE}/pages/${name}`, [type, body], headers),
        ...Object.entries(files).map(([url, each]) => sent(url, each)),
        ...Object.keys(references).map((each) => {
          const url = archivedAt(each);
          return sent(url, SENT[/\.(\w+)(\?.*)?$/.exec(url)?.[1] ?? "png"] as Sent);
        }),
      ];
    },
  );
  const moved = ["img-redirect", "frm-redirect.html"].map((name) =>
    at(`${SITE}/moved/${name}`, http("", `Location: ${urlOf(name)}\r\n`, "302 Found")),
  );
  const leaving = Object.entries(LEAVING).map(([name, { body, headers, type = "text/html" }]) =>
    sent(`${SITE}/leaving/${name}`, [type, body], headers),
  );
  const refresh = sent(
    `${SITE}/frame/refresh-header.html`,
    html("x"),
    `Refresh: 0; url=${new URL(urlOf("frm-refresh-header.html")).pathname}\r\n`,
  );
  return [...pages, ...moved, ...leaving, refresh];
}

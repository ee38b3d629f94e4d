/** A page that refers to things in every way that browsers know, and what it refers to, as records of an archive. */
import { http, record } from "../warc-records.ts";

export const SITE = "https://site.test";
const CDN = "https://cdn.test";
/** Archived with the page. */
const DATE = "2026-01-02T03:04:05Z";
export const TIMESTAMP = "20260102030405";

const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
const SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect id="i" width="9" height="9"/></svg>';

type Sent = [type: string, body: string | Buffer];
const png: Sent = ["image/png", PNG];
const js = (code = ""): Sent => ["text/javascript", code];
const css = (code = "a{}"): Sent => ["text/css", code];
const page = (body = ""): Sent => ["text/html", `<!doctype html><title>t</title>${body}`];
const json: Sent = ["application/json", "{}"];

interface Kind {
  /** Goes into the page; `$` is the URL of what is referred to. */
  markup: string;
  sent: Sent;
  /** Referred to by its path from the root, relatively, or in full. */
  as?: "full" | "root" | "relative";
}

const inScript = (code: string): string => `<script>try{${code}}catch(e){console.error("page",e)}</script>`;

/** What makes a browser ask for something, by name. */
export const KINDS: Readonly<Record<string, Kind>> = {
  "img-src": { markup: "<img src='$'>", sent: png },
  "img-src-root": { markup: "<img src='$'>", sent: png, as: "root" },
  "img-src-relative": { markup: "<img src='$'>", sent: png, as: "relative" },
  "img-srcset": { markup: "<img srcset='$ 1x'>", sent: png },
  "img-crossorigin": { markup: "<img crossorigin src='$'>", sent: png },
  "img-credentials": { markup: "<img crossorigin=use-credentials src='$'>", sent: png },
  "picture-source": { markup: "<picture><source srcset='$'><img></picture>", sent: png },
  "img-in-svg": { markup: "<svg><image href='$'/></svg>", sent: png },
  "img-in-svg-xlink": { markup: "<svg><image xlink:href='$'/></svg>", sent: png },
  "svg-fe-image": {
    markup:
      "<svg width=9 height=9><filter id=f><feImage href='$'/></filter><rect width=9 height=9 filter='url(#f)'/></svg>",
    sent: png,
  },
  "input-image": { markup: "<input type=image src='$'>", sent: png },
  "video-poster": { markup: "<video poster='$'></video>", sent: png },
  "video-src": { markup: "<video preload=auto src='$'></video>", sent: ["video/mp4", "x"] },
  "video-source": { markup: "<video preload=auto><source src='$'></video>", sent: ["video/mp4", "x"] },
  "audio-src": { markup: "<audio preload=auto src='$'></audio>", sent: ["audio/mpeg", "x"] },
  "video-track": { markup: "<video><track default kind=subtitles src='$'></video>", sent: ["text/vtt", "WEBVTT\n"] },
  "iframe-src": { markup: "<iframe src='$'></iframe>", sent: page() },
  "iframe-srcdoc": { markup: "<iframe srcdoc=\"<img src='$'>\"></iframe>", sent: png },
  "object-data": { markup: "<object data='$' type=image/svg+xml></object>", sent: ["image/svg+xml", SVG] },
  "embed-src": { markup: "<embed src='$' type=image/svg+xml>", sent: ["image/svg+xml", SVG] },
  "body-background": { markup: "<table background='$'><tr><td>x</table>", sent: png },
  "link-stylesheet": { markup: "<link rel=stylesheet href='$'>", sent: css() },
  "link-stylesheet-integrity": {
    markup: "<link rel=stylesheet integrity='sha256-bad' crossorigin href='$'>",
    sent: css(),
  },
  "link-preload-image": { markup: "<link rel=preload as=image href='$'>", sent: png },
  "link-preload-srcset": { markup: "<link rel=preload as=image imagesrcset='$ 1x'>", sent: png },
  "link-preload-font": { markup: "<link rel=preload as=font crossorigin href='$'>", sent: ["font/woff2", "x"] },
  "link-preload-script": { markup: "<link rel=preload as=script href='$'>", sent: js() },
  "link-modulepreload": { markup: "<link rel=modulepreload href='$'>", sent: js() },
  "style-attribute": { markup: "<p style='background:url($)'>x</p>", sent: png },
  "style-attribute-quoted": { markup: "<p style='background:url(\"$\")'>x</p>", sent: png },
  "style-element": { markup: "<style>#a1{background:url($)}</style><p id=a1>x</p>", sent: png },
  "style-escape": { markup: "<style>#a2{background:u\\72l($)}</style><p id=a2>x</p>", sent: png },
  "style-image-set": { markup: "<style>#a3{background-image:image-set('$' 1x)}</style><p id=a3>x</p>", sent: png },
  "style-image-set-webkit": {
    markup: "<style>#a4{background-image:-webkit-image-set(url($) 1x)}</style><p id=a4>x</p>",
    sent: png,
  },
  "style-import": { markup: "<style>@import '$';</style>", sent: css() },
  "style-import-url": { markup: "<style>@import url($);</style>", sent: css() },
  "style-font-face": {
    markup: "<style>@font-face{font-family:f1;src:url($)}#a5{font-family:f1}</style><p id=a5>x</p>",
    sent: ["font/woff2", "x"],
  },
  "style-variable": { markup: "<style>#a6{--i:url($);background:var(--i)}</style><p id=a6>x</p>", sent: png },
  "style-mask": { markup: "<style>#a7{mask-image:url($)}</style><p id=a7>x</p>", sent: png },
  "style-cursor": { markup: "<style>#a8{list-style-image:url($)}</style><ul><li id=a8>x</ul>", sent: png },
  "style-content": { markup: "<style>#a9::before{content:url($)}</style><p id=a9>x</p>", sent: png },
  "script-src": { markup: "<script src='$'></script>", sent: js() },
  "script-plain-type": { markup: "<script src='$'></script>", sent: ["text/plain", ""] },
  "script-svg": { markup: "<svg><script href='$'></script></svg>", sent: js() },
  "script-module": { markup: "<script type=module src='$'></script>", sent: js() },
  "module-import": { markup: "<script type=module>import '$'</script>", sent: js() },
  "module-import-root": { markup: "<script type=module>import '$'</script>", sent: js(), as: "root" },
  "module-import-dynamic": { markup: "<script type=module>import('$')</script>", sent: js() },
  "module-import-computed": { markup: "<script type=module>const n='$';import(n)</script>", sent: js() },
  "module-import-map": { markup: "<script type=module>import 'mapped'</script>", sent: js() },
  "classic-import-dynamic": { markup: inScript("import('$')"), sent: js() },
  "classic-import-computed": { markup: inScript("const n='$';import(n)"), sent: js() },
  "script-new-image": { markup: inScript("new Image().src='$'"), sent: png },
  "script-new-image-root": { markup: inScript("new Image().src='$'"), sent: png, as: "root" },
  "script-new-audio": { markup: inScript("new Audio('$').load()"), sent: ["audio/mpeg", "x"] },
  "script-create-script": {
    markup: inScript("const s=document.createElement('script');s.src='$';document.head.append(s)"),
    sent: js(),
  },
  "script-create-link": {
    markup: inScript("const l=document.createElement('link');l.rel='stylesheet';l.href='$';document.head.append(l)"),
    sent: css(),
  },
  "script-create-frame": {
    markup: inScript("const f=document.createElement('iframe');f.src='$';document.documentElement.append(f)"),
    sent: page(),
  },
  "script-set-attribute": {
    markup: inScript(
      "const i=document.createElement('img');i.setAttribute('src','$');document.documentElement.append(i)",
    ),
    sent: png,
  },
  "script-inner-html": {
    markup: inScript(
      "const d=document.createElement('div');d.innerHTML='<img src=$>';document.documentElement.append(d)",
    ),
    sent: png,
  },
  "script-insert-html": {
    markup: inScript("document.documentElement.insertAdjacentHTML('beforeend','<img src=\"$\">')"),
    sent: png,
  },
  "script-template": {
    markup: `<template id=tt><img src='$'></template>${inScript("document.documentElement.append(tt.content.cloneNode(true))")}`,
    sent: png,
  },
  "script-write": { markup: inScript("document.write('<img src=\"$\">')"), sent: png },
  "script-write-script": { markup: inScript("document.write('<script src=\"$\"></scr'+'ipt>')"), sent: js() },
  "script-style": { markup: `<p id=b1>x</p>${inScript("b1.style.backgroundImage='url($)'")}`, sent: png },
  "script-insert-rule": {
    markup: `<style id=b2></style><p id=b3>x</p>${inScript("b2.sheet.insertRule('#b3{background:url($)}')")}`,
    sent: png,
  },
  "script-style-element": {
    markup:
      "<p id=b4>x</p>" +
      inScript(
        "const s=document.createElement('style');s.textContent='#b4{background:url($)}';document.head.append(s)",
      ),
    sent: png,
  },
  "script-adopted-sheet": {
    markup: `<p id=b5>x</p>${inScript("const s=new CSSStyleSheet();s.replaceSync('#b5{background:url($)}');document.adoptedStyleSheets=[s]")}`,
    sent: png,
  },
  "script-font-face": {
    markup: inScript("new FontFace('f2','url($)').load().catch(()=>{})"),
    sent: ["font/woff2", "x"],
  },
  "script-fetch": { markup: inScript("fetch('$')"), sent: json },
  "script-fetch-root": { markup: inScript("fetch('$')"), sent: json, as: "root" },
  "script-fetch-relative": { markup: inScript("fetch('$')"), sent: json, as: "relative" },
  "script-fetch-request": { markup: inScript("fetch(new Request('$',{headers:{'x-own':'1'}}))"), sent: json },
  "script-fetch-credentials": { markup: inScript("fetch('$',{credentials:'include'})"), sent: json },
  "script-xhr": { markup: inScript("const x=new XMLHttpRequest();x.open('GET','$');x.send()"), sent: json },
  "script-event-source": { markup: inScript("new EventSource('$')"), sent: ["text/event-stream", "data: x\n\n"] },
  "script-worker": { markup: inScript("new Worker('$')"), sent: js() },
  "script-storage": {
    markup: inScript(
      "localStorage.a='1';document.cookie='a=1';sessionStorage.setItem('b','2');if(localStorage.a+document.cookie+sessionStorage.b==='1a=12')new Image().src='$'",
    ),
    sent: png,
  },
  "script-service-worker": {
    markup: inScript("navigator.serviceWorker.register('/sw.js').catch(()=>{new Image().src='$'})"),
    sent: png,
  },
  "script-push-state": {
    markup: inScript("history.replaceState(null,'',location.href);new Image().src='$'"),
    sent: png,
  },
  "redirect-target": { markup: `<img src='${SITE}/redirect.png'>`, sent: png },
  "http-for-https": { markup: "<img src='http://plain.test/http-for-https.png'>", sent: png },
  "css-relative": { markup: `<link rel=stylesheet href='${CDN}/deep/sheet.css'><p id=c1>x</p>`, sent: png },
  "css-import-nested": { markup: "", sent: css() },
  "module-nested": { markup: `<script type=module src='${CDN}/deep/module.js'></script>`, sent: js() },
  "module-nested-root": { markup: "", sent: js() },
  "module-meta-url": { markup: "", sent: png },
  "worker-fetch": { markup: inScript(`new Worker('${CDN}/deep/worker.js')`), sent: json },
  "worker-import-scripts": { markup: "", sent: js() },
  "worker-location": { markup: "", sent: json },
  "frame-image": { markup: `<iframe src='${CDN}/deep/frame.html'></iframe>`, sent: png },
  "frame-base": { markup: "", sent: png },
  "svg-document-image": { markup: `<iframe src='${CDN}/deep/image.svg'></iframe>`, sent: png },
  "xhtml-image": { markup: `<iframe src='${CDN}/deep/page.xhtml'></iframe>`, sent: png },
  "frame-refresh": { markup: `<iframe src='${CDN}/deep/refresh.html'></iframe>`, sent: page() },
  "frame-refresh-header": { markup: `<iframe src='${CDN}/deep/refresh-header.html'></iframe>`, sent: page() },
  "frame-form": { markup: `<iframe src='${CDN}/deep/form.html'></iframe>`, sent: page() },
};

const FILE: Readonly<Record<string, string>> = { "frame-form": "frame-form.html?q=1" };

/** Where it is archived. */
export function urlOfKind(name: string): string {
  if (name === "http-for-https") return "https://plain.test/http-for-https.png";
  const { sent } = KINDS[name] as Kind;
  const end = { "image/png": ".png", "text/css": ".css", "text/html": ".html" }[sent[0]] ?? ".bin";
  return `${CDN_KINDS.has(name) ? CDN : SITE}/r/${FILE[name] ?? `${name}${end}`}`;
}

/** Referred to by the files of the other host, by their paths. */
const CDN_KINDS = new Set(
  "css-relative css-import-nested module-nested module-nested-root module-meta-url worker-fetch worker-import-scripts worker-location frame-form frame-refresh frame-refresh-header".split(
    " ",
  ),
);

/** Where nothing is archived: whoever asks there has left. */
export const OUTSIDE = "http://outside.test";

const LEAVING = `
<link rel=dns-prefetch href=//dns.outside.test><link rel=preconnect href=//connect.outside.test><link rel=icon href=${OUTSIDE}/icon.png>
<link rel=prefetch href=${OUTSIDE}/prefetch><link rel=prerender href=${OUTSIDE}/prerender>
<script type=speculationrules>{"prefetch":[{"source":"list","urls":["${OUTSIDE}/speculation"]}]}</script>
<img src=${OUTSIDE}/img.png><iframe src=${OUTSIDE}/frame></iframe><script src=${OUTSIDE}/script.js></script>
<a id=ping href=/r/nowhere ping=${OUTSIDE}/ping>x</a>
<script>
try{fetch("${OUTSIDE}/fetch").catch(()=>{})}catch(e){}
try{navigator.sendBeacon("${OUTSIDE}/beacon","x")}catch(e){}
try{new WebSocket("ws://outside.test/socket")}catch(e){}
try{new RTCPeerConnection({iceServers:[{urls:"stun:outside.test"}]}).createDataChannel("x")}catch(e){}
try{window.open("${OUTSIDE}/open")}catch(e){}
</script>`;

const html = "Content-Type: text/html\r\n";

/** All of it. `main` is the page, at `SITE/dir/page`. */
export function nastySite(): Buffer[] {
  const at = (url: string, block: Buffer) => record(block, { url, date: DATE });
  const body = Object.entries(KINDS).map(([name, { markup, as = "full" }]) => {
    const url = urlOfKind(name);
    const written = { full: url, root: new URL(url).pathname, relative: `../r/${url.split("/r/")[1]}` }[as];
    return markup.replaceAll("$", written);
  });
  const map = { imports: { mapped: urlOfKind("module-import-map") } };
  const main =
    `<!doctype html><html><head><title>Nasty</title><script type=importmap>${JSON.stringify(map)}</script></head>` +
    `<body>${body.join("\n")}${LEAVING}<a id=next href="next.html">next</a><a id=missing href="missing.html">m</a></body></html>`;
  const hostile = [
    "Set-Cookie: evil=1; Path=/",
    'Clear-Site-Data: "*"',
    "Content-Security-Policy: default-src 'none'",
    "Strict-Transport-Security: max-age=99",
    "Cross-Origin-Opener-Policy: same-origin",
    "Cross-Origin-Embedder-Policy: require-corp",
    `Link: <${OUTSIDE}/link.css>; rel=preload; as=style`,
    `NEL: {"report_to":"x","max_age":99}`,
    `Speculation-Rules: "${OUTSIDE}/rules.json"`,
    "WWW-Authenticate: Basic",
  ].map((line) => `${line}\r\n`);
  const deep: Record<string, Sent> = {
    "sheet.css": css(`@import "../r/css-import-nested.css";#c1{background:url(../r/css-relative.png)}`),
    "module.js": js(
      `import "../r/module-nested.bin";import "/r/module-nested-root.bin";new Image().src=new URL("../r/module-meta-url.png",import.meta.url)`,
    ),
    "worker.js": js(
      `fetch("/r/worker-fetch.bin");importScripts("/r/worker-import-scripts.bin");if(location.pathname==="/deep/worker.js")fetch(location.origin+"/r/worker-location.bin")`,
    ),
    "frame.html": page(`<img src="${SITE}/r/frame-image.png"><base href="${SITE}/r/"><img src="frame-base.png">`),
    "image.svg": [
      "image/svg+xml",
      `<svg xmlns="http://www.w3.org/2000/svg"><image width="9" height="9" href="${SITE}/r/svg-document-image.png"/></svg>`,
    ],
    "page.xhtml": [
      "application/xhtml+xml",
      `<html xmlns="http://www.w3.org/1999/xhtml"><head><title>x</title></head><body><img src="${SITE}/r/xhtml-image.png" alt=""/></body></html>`,
    ],
    "refresh.html": page(`<meta http-equiv=refresh content="0;url=/r/frame-refresh.html">`),
    "form.html": page(
      `<form action="/r/frame-form.html"><input name=q value=1></form><script>document.forms[0].submit()</script>`,
    ),
  };
  return [
    at(`${SITE}/dir/page`, http(main, html + hostile.join(""))),
    at(`${SITE}/dir/next.html`, http("<!doctype html><h1>next</h1>", html)),
    at(`${SITE}/redirect.png`, http("", `Location: ${urlOfKind("redirect-target")}\r\n`, "301 Moved Permanently")),
    at(`${CDN}/deep/refresh-header.html`, http("<p>x", `${html}Refresh: 0; url=/r/frame-refresh-header.html\r\n`)),
    ...Object.entries(deep).map(([name, [type, content]]) =>
      at(`${CDN}/deep/${name}`, http(content, `Content-Type: ${type}\r\n`)),
    ),
    ...Object.entries(KINDS).map(([name, { sent }]) =>
      at(urlOfKind(name), http(sent[1], `Content-Type: ${sent[0]}\r\n`)),
    ),
  ];
}

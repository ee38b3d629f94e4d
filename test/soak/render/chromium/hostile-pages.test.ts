/**
 * Whatever a page tries, it reaches nothing that the URL guard forbids: a service inside sees no connection and no
 * datagram.
 */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { get } from "node:http";
import type { LookupFunction } from "node:net";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createUrlGuard } from "../../../../shared/access/url-guard.ts";
import type { Chromium } from "../../../../shared/render/chromium/browser.ts";
import { RenderError } from "../../../../shared/render/renderer.ts";
import {
  documentOf,
  type InternalService,
  internalService,
  testChromium,
} from "../../../integration/render/chromium/browser.ts";
import { openerOf, type PageOpener, scripted } from "../../../integration/render/chromium/hostile-setup.ts";
import { type Site, startSite } from "../../../sites/site.ts";

let inside: InternalService;
let site: Site;
let chromium: Chromium;
let open: PageOpener["open"];
let opensTo: PageOpener["opensTo"];
/** What a name means, the how manieth time it is asked for. */
let answers: Record<string, (time: number) => string> = {};
const asked: Record<string, number> = {};

/** A name server that answers as each test says. */
const lookup: LookupFunction = (hostname, options, callback) => {
  const time = asked[hostname] ?? 0;
  asked[hostname] = time + 1;
  const address = answers[hostname]?.(time);
  if (address === undefined) return callback(Object.assign(new Error("no such name"), { code: "ENOTFOUND" }), "");
  callback(null, options.all ? [{ address, family: 4 }] : address, 4);
};

beforeAll(async () => {
  inside = await internalService();
  site = await startSite({
    "/to-inside": { status: 302, headers: { location: `http://127.0.0.1:${inside.port}/redirected` } },
    "/worker.js": {
      headers: { "content-type": "text/javascript" },
      body: `fetch("http://127.0.0.1:${inside.port}/worker").then(() => postMessage("reached"), () => postMessage("done"))`,
    },
    "/import.js": {
      headers: { "content-type": "text/javascript" },
      body: `try { importScripts("http://127.0.0.1:${inside.port}/imported.js"); postMessage("reached") } catch { postMessage("done") }`,
    },
    "/leave": {
      headers: { "content-type": "text/html" },
      body: `<meta http-equiv="refresh" content="0; url=http://127.0.0.1:${inside.port}/refreshed">`,
    },
    "/service.js": {
      headers: { "content-type": "text/javascript" },
      body: `self.addEventListener("install", () => fetch("http://127.0.0.1:${inside.port}/service"))`,
    },
  });
  const guard = createUrlGuard({ allowHosts: [site.host], lookup });
  chromium = testChromium([], { guard });
  ({ open, opensTo } = openerOf(chromium, site.origin, `127.0.0.1:${inside.port}`));
});
afterAll(async () => {
  await chromium.close();
  await site.close();
  await inside[Symbol.asyncDispose]();
});
beforeEach(() => {
  inside.visits.length = 0;
  answers = {};
});

const WAYS: Record<string, string> = {
  fetch: scripted(`fetch("http://INSIDE/").then((a) => say("reached " + a.type), () => say("done"))`),
  "fetch without CORS": scripted(
    `fetch("http://INSIDE/", { mode: "no-cors" }).then(() => say("done"), () => say("done"))`,
  ),
  "fetch with another spelling of the address": scripted(
    `Promise.allSettled(["2130706433", "0x7f.1", "127.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "x.localhost"]
      .map((host) => fetch("http://" + host + ":PORT/", { mode: "no-cors" }))).then(() => say("done"))`,
  ),
  XMLHttpRequest: scripted(
    `const r = new XMLHttpRequest(); r.open("GET", "http://INSIDE/"); r.onloadend = () => say("done"); r.send()`,
  ),
  "a redirect": scripted(`fetch("/to-inside", { mode: "no-cors" }).then(() => say("done"), () => say("done"))`),
  "an image": `<img src="http://INSIDE/a.png" srcset="http://INSIDE/b.png 2x">`,
  "a style sheet and a font": `<link rel="stylesheet" href="http://INSIDE/a.css"><style>@import "http://INSIDE/b.css";
    @font-face { font-family: x; src: url(http://INSIDE/x.woff) } p { font-family: x }</style><p>text</p>`,
  "a script": `<script src="http://INSIDE/a.js"></script><script type="module">import "http://INSIDE/b.js"</script>`,
  "a frame": `<iframe src="http://INSIDE/"></iframe><iframe srcdoc="<img src='http://INSIDE/'>"></iframe><object data="http://INSIDE/"></object><embed src="http://INSIDE/">`,
  "a frame that is redirected": `<iframe src="/to-inside"></iframe>`,
  "a form": `<form action="http://INSIDE/" method="post" target="_blank"><input name="a"></form><script>document.forms[0].submit()</script>`,
  "a navigation": `<script>location.href = "http://INSIDE/"</script>`,
  "a window": `<script>window.open("http://INSIDE/"); window.open("/to-inside")</script>`,
  WebSocket: scripted(
    `const s = new WebSocket("ws://INSIDE/"); s.onopen = () => say("reached"); s.onerror = () => say("done")`,
  ),
  "WebSocket with TLS": scripted(
    `const s = new WebSocket("wss://INSIDE/"); s.onopen = () => say("reached"); s.onerror = () => say("done")`,
  ),
  EventSource: scripted(`const s = new EventSource("http://INSIDE/"); s.onerror = () => { s.close(); say("done") }`),
  sendBeacon: scripted(`navigator.sendBeacon("http://INSIDE/", "x"); say("done")`),
  "hints and prefetching": `<link rel="dns-prefetch" href="http://INSIDE"><link rel="preconnect" href="http://INSIDE">
    <link rel="prefetch" href="http://INSIDE/a"><link rel="preload" as="image" href="http://INSIDE/b"><link rel="prerender" href="http://INSIDE/c">
    <script type="speculationrules">{"prefetch":[{"source":"list","urls":["http://INSIDE/d"]}],"prerender":[{"source":"list","urls":["/to-inside"]}]}</script>`,
  "pings of links": `<a id="a" href="#x" ping="http://INSIDE/">x</a><script>document.querySelector("#a").click()</script>`,
  "a worker": scripted(`new Worker("/worker.js").onmessage = ({ data }) => say(data)`),
  "a worker of a blob":
    scripted(`new Worker(URL.createObjectURL(new Blob(['fetch("http://INSIDE/").then(() => postMessage("reached"), () => postMessage("done"))'])))
    .onmessage = ({ data }) => say(data)`),
  "importScripts of a worker": scripted(`new Worker("/import.js").onmessage = ({ data }) => say(data)`),
  "a module worker": scripted(
    `const w = new Worker(URL.createObjectURL(new Blob(['import "http://INSIDE/m.js"; postMessage("reached")'], { type: "text/javascript" })), { type: "module" });
    w.onmessage = ({ data }) => say(data); w.onerror = () => say("done")`,
  ),
  "a worklet": scripted(
    `CSS.paintWorklet?.addModule("http://INSIDE/p.js").then(() => say("reached"), () => say("done")) ?? say("done")`,
  ),
  "a dynamic import": scripted(`import("http://INSIDE/d.js").then(() => say("reached"), () => say("done"))`),
  "url() in styles": `<style>p { background: url(http://INSIDE/bg); cursor: url(http://INSIDE/c), auto; list-style: url(http://INSIDE/l);
    border-image: url(http://INSIDE/b) 1; mask: url(http://INSIDE/m#x); filter: url(http://INSIDE/f#x); content: url(http://INSIDE/n) }
    p::before { content: image-set(url(http://INSIDE/i) 1x) }</style><p style="background: url(//INSIDE/inline)">text</p>`,
  SVG: `<svg xmlns:xlink="http://www.w3.org/1999/xlink"><image href="http://INSIDE/i"/><use href="http://INSIDE/u#x"/>
    <feImage href="http://INSIDE/fe"/><script href="http://INSIDE/s.js"></script><foreignObject><iframe src="http://INSIDE/"></iframe></foreignObject></svg>`,
  "a document of XML with a style sheet and entities": `<iframe src="data:application/xml,<?xml-stylesheet href='http://INSIDE/x.xsl' type='text/xsl'?><!DOCTYPE a [<!ENTITY e SYSTEM 'http://INSIDE/e'>]><a>%26e;</a>"></iframe>`,
  "a download": `<a id="a" download href="http://INSIDE/file">x</a><script>document.querySelector("#a").click()</script>`,
  "a refresh": `<meta http-equiv="refresh" content="0; url=http://INSIDE/"><iframe src="/leave"></iframe>`,
  "a base": `<base href="http://INSIDE/"><img src="a.png"><script src="b.js"></script>`,
  "a window of its own that leads on": scripted(
    `const w = window.open("about:blank"); try { w.location = "http://INSIDE/"; w.document.write("<img src=http://INSIDE/w>") } catch {} say("done")`,
  ),
  "a frame with scripts in srcdoc": `<iframe srcdoc="<script>fetch('http://INSIDE/', { mode: 'no-cors' }); new WebSocket('ws://INSIDE/'); parent.location = 'http://INSIDE/top'</script>"></iframe>`,
  "a peer over TCP and by name": scripted(`const peer = new RTCPeerConnection(); peer.createDataChannel("x");
    peer.createOffer().then((o) => peer.setLocalDescription(o)).then(() => peer.setRemoteDescription({ type: "answer", sdp:
      peer.localDescription.sdp.replace("actpass", "active").replace(/a=candidate.*\\r\\n/g, "") })).then(() => Promise.allSettled([
      "candidate:1 1 tcp 2122260223 127.0.0.1 PORT typ host tcptype passive", "candidate:2 1 udp 2122260222 localhost PORT typ host"]
      .map((candidate) => peer.addIceCandidate({ candidate, sdpMid: "0" })))).then(() => say("done"), () => say("done"))`),
  "a keep-alive request of a page that goes": scripted(
    `addEventListener("pagehide", () => fetch("http://INSIDE/k", { keepalive: true, mode: "no-cors" })); location.href = "/leave"`,
  ),
  "a bare socket": scripted(
    `try { new TCPSocket("127.0.0.1", PORT).opened.then(() => say("reached"), () => say("done")) } catch { say("done") }`,
  ),
  "a shared worker": scripted(`new SharedWorker("/worker.js"); say("done")`),
  "a service worker": scripted(
    `navigator.serviceWorker.register("/service.js").then(() => say("done"), () => say("done"))`,
  ),
  "WebRTC by STUN and TURN": scripted(`const peer = new RTCPeerConnection({ iceServers: [{ urls: "stun:INSIDE" },
      { urls: ["turn:INSIDE", "turn:INSIDE?transport=tcp", "turns:INSIDE?transport=tcp"], username: "a", credential: "b" }] });
    peer.createDataChannel("x"); peer.onicecandidate = ({ candidate }) => { if (candidate === null) say("done") };
    peer.createOffer().then((offer) => peer.setLocalDescription(offer))`),
  "WebRTC to a peer": scripted(`const peer = new RTCPeerConnection(); peer.createDataChannel("x");
    peer.createOffer().then((o) => peer.setLocalDescription(o)).then(() => peer.setRemoteDescription({ type: "answer", sdp:
      peer.localDescription.sdp.replace("actpass", "active").replace(/a=candidate.*\\r\\n/g, "") })).then(() =>
      peer.addIceCandidate({ candidate: "candidate:1 1 udp 2122260223 127.0.0.1 PORT typ host", sdpMid: "0" })).then(() => say("done"), (e) => say(e.message))`),
  WebTransport: scripted(`new WebTransport("https://INSIDE/").ready.then(() => say("reached"), () => say("done"))`),
  "a favicon and a manifest": `<link rel="icon" href="http://INSIDE/i.ico"><link rel="manifest" href="http://INSIDE/m.json">`,
  "a media element": `<video src="http://INSIDE/v.mp4" autoplay></video><audio src="http://INSIDE/a.mp3" autoplay></audio>`,
  "a report": `<meta http-equiv="Content-Security-Policy" content="img-src 'none'; report-uri http://INSIDE/"><img src="/x.png">`,
};

test.each(Object.entries(WAYS))("%s reaches nothing inside", async (_name, html) => {
  const page = html.replaceAll("PORT", String(inside.port));
  // these pages are no burden: a browser that dies has been killed by the machine, and production tries again too
  const dom = await open(page).catch((error: unknown) => {
    if (!(error instanceof RenderError && error.code === "RENDER_CRASHED")) throw error;
    return open(page);
  });
  expect(dom).not.toContain("reached");
  expect(inside.visits).toEqual([]);
});

test("a page may ask sites that the guard allows, and is told nothing of why others were refused", async () => {
  const dom = await opensTo(
    scripted(
      `fetch("/x").then((a) => say("site " + a.status)); fetch("http://INSIDE/secret?q=1").catch((e) => say(e.message))`,
    ),
    "[site 404]",
    "[Failed to fetch]",
  );
  expect(dom).toContain("[site 404]");
  expect(dom).toContain("[Failed to fetch]");
  expect(chromium.refusals).toEqual([expect.stringContaining("loopback")]);
  expect(chromium.refusals.join()).not.toContain("secret");
});

test("a public name that resolves to something inside is refused at each connection, whatever it meant before", async () => {
  const { port } = inside;
  // what a rebinding name server says from the second time on
  answers = { "rebound.test": () => "127.0.0.1" };
  // the page gets an empty answer of the proxy, of which it may not see anything
  const again = `() => fetch("http://rebound.test:${port}/", { mode: "no-cors" })`;
  await opensTo(scripted(`(${again})().then(${again}).then(() => say("done"))`), "[done]");
  expect(asked["rebound.test"]).toBe(2);
  expect(inside.visits).toEqual([]);
  expect(chromium.refusals).toContainEqual(expect.stringContaining("resolves to 127.0.0.1"));
});

test("files and pages of the browser itself stay closed", async () => {
  const dom = await opensTo(
    scripted(`const urls = ["file:///etc/passwd", "chrome://version", "view-source:http://INSIDE/", "devtools://devtools/bundled/inspector.html"];
      Promise.all(urls.map((url) => fetch(url).then((a) => a.text()).then(() => say("read " + url), () => say("closed"))))`) +
      `<iframe src="file:///etc/passwd"></iframe><iframe src="chrome://version"></iframe><img src="file:///etc/hostname">`,
    "[closed]".repeat(4),
  );
  expect(dom).toBe("[closed]".repeat(4));
});

test("a loop without end costs its own page alone: the next one opens", async () => {
  const started = performance.now();
  await open("<script>for (;;);</script>", 5_000).catch((error: Error) => error.message);
  expect(performance.now() - started).toBeLessThan(30_000);
  expect(await opensTo(`<p id="out">still here</p>`, "still here")).toBe("still here");
});

test("nobody else on the machine can use the proxy", async () => {
  const document = documentOf(`${site.origin}/page`, "<p>x");
  await chromium.withPage(document, { purpose: "text", headers: {}, timeoutMs: 15_000 }, async () => {
    const line = readFileSync(`/proc/${chromium.pid}/cmdline`, "utf8");
    const [, port] = /--proxy-server=http:\/\/127\.0\.0\.1:(\d+)/.exec(line) ?? expect.fail("no proxy");
    // fetch takes this answer for none at all
    const [answer] = await once(get({ port, host: "127.0.0.1", path: `${site.origin}/` }), "response");
    expect(answer.statusCode).toBe(407);
  });
});

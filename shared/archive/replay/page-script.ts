/**
 * The script that goes before a replayed page's own: what they ask for by name at run time is asked of the archive, and
 * what an origin of nobody's lacks (storage, cookies, workers and messages of its own) is there, empty.
 *
 * Nothing depends on it for safety: whatever it misses, the policy of the page refuses.
 */
import { ELEMENTS } from "./page/elements.ts";
import { MESSAGES } from "./page/messages.ts";
import { STORAGE } from "./page/storage.ts";
import { WORKERS } from "./page/workers.ts";

/** Runs in pages and in their workers, by its text: it may name nothing outside of itself. */
const REQUESTS = String.raw`function install(scope, time, page, origin, token, own) {
  "use strict";
  if (scope.__archivedReference) return;
  var doc = scope.document;
  var archivedPath = /^\/\d{1,14}(?:\w{2}_)?\/(?=https?:)/;
  /* the URL that was archived; of what is none of replay, the page's */
  function original(url) {
    var rest = String(url).indexOf(origin + "/") === 0 ? String(url).slice(origin.length) : "";
    return archivedPath.test(rest) ? rest.replace(archivedPath, "") : page;
  }
  function archived(reference, modifier) {
    if (reference === null || reference === undefined) return reference;
    var text = String(reference);
    if (text.trim() === "" || text.trim()[0] === "#") return text;
    var url;
    try { url = new URL(text, doc ? doc.baseURI : origin + "/" + time + "/" + page); } catch (e) { return text; }
    if (url.protocol !== "http:" && url.protocol !== "https:") return text;
    if (url.origin === origin) {
      if (archivedPath.test(url.pathname) || url.pathname.indexOf("/_replay/") === 0) return url.href;
      try { url = new URL(url.pathname + url.search + url.hash, doc ? original(doc.baseURI) : page); } catch (e) { return text; }
    }
    return origin + "/" + time + (modifier || "") + "/" + url.href;
  }
  function asked(reference) {
    var url = archived(reference);
    if (!token || String(url).indexOf(origin + "/") !== 0) return url;
    url = String(url).replace(/#.*$/, "");
    return url + (url.indexOf("?") < 0 ? "?" : "&") + "archive-token=" + token;
  }
  function css(text) {
    return String(text).replace(/(url\(\s*(["']?))((?:https?:)?\/\/[^"')]+)/gi, function (all, before, quote, url) {
      return before + archived(url, "im_");
    }).replace(/((?:@import\s+|image-set\(\s*)(["']))((?:https?:)?\/\/[^"']+)/gi, function (all, before, quote, url) {
      return before + archived(url, before[0] === "@" ? "cs_" : "im_");
    });
  }
  function srcset(text) {
    return String(text).replace(/(^|,\s+|,(?=\S))\s*(\S*[^\s,])/g, function (all, before, url) {
      return before + archived(url, "im_");
    });
  }
  /* what a script imports; names that are no URL are those of import maps */
  scope.__archivedReference = function (reference, base) {
    var text = String(reference);
    if (archivedPath.test(text)) return origin + text;
    if (!/^(https?:|\.{0,2}\/)/i.test(text)) return reference;
    try { return archived(new URL(text, base).href, "js_"); } catch (e) { return reference; }
  };
  function define(target, name, value) {
    try { Object.defineProperty(target, name, { configurable: true, writable: true, value: value }); } catch (e) {}
  }
  function wrap(target, name, make) {
    if (target && typeof target[name] === "function") define(target, name, make(target[name]));
  }
  function wrapSetter(target, name, change) {
    var own = target && Object.getOwnPropertyDescriptor(target, name);
    if (!own || !own.set) return;
    Object.defineProperty(target, name, {
      configurable: true, enumerable: own.enumerable, get: own.get,
      set: function (value) { own.set.call(this, change(value, this)); }
    });
  }

  function wrapGetter(target, name, change) {
    var own = target && Object.getOwnPropertyDescriptor(target, name);
    if (!own || !own.get) return;
    var get = function () { return change(own.get.call(this), this); };
    get.native = own.get;
    Object.defineProperty(target, name, { configurable: true, enumerable: own.enumerable, get: get, set: own.set });
  }
  function quoted(text) { return String(text).replace(/&/g, "&amp;").replace(/"/g, "&quot;").replace(/</g, "&lt;"); }
  /* this script, for documents that the page makes */
  var tag = '<script src="' + own + '" data-time="' + time + '" data-url="' + quoted(page) + '" data-token="' + token + '"></scr' + 'ipt>';

  wrap(scope, "fetch", function (native) {
    return function (input, init) {
      if (scope.Request && input instanceof scope.Request) {
        var url = asked(input.url);
        return native.call(scope, url === input.url ? input : new scope.Request(url, input), init);
      }
      return native.call(scope, asked(input), init);
    };
  });
  if (scope.XMLHttpRequest) wrap(scope.XMLHttpRequest.prototype, "open", function (native) {
    return function (method, url) {
      var all = Array.prototype.slice.call(arguments);
      all[1] = asked(url);
      return native.apply(this, all);
    };
  });
  function construct(name, change) {
    var native = scope[name];
    if (!native) return;
    var made = function () { return change.apply(null, [native].concat(Array.prototype.slice.call(arguments))); };
    made.prototype = native.prototype;
    Object.setPrototypeOf(made, native);
    define(scope, name, made);
  }
  construct("EventSource", function (Native, url, options) { return new Native(asked(url), options); });
  if (scope.navigator && scope.Navigator) define(scope.Navigator.prototype, "sendBeacon", function () { return true; });
  define(scope, "RTCPeerConnection", undefined);
  define(scope, "webkitRTCPeerConnection", undefined);
  define(scope, "WebTransport", undefined);
`;

const INSTALL = `${REQUESTS}${WORKERS}${STORAGE}${MESSAGES}${ELEMENTS}}`;

export const PAGE_SCRIPT = `"use strict";(function () {
var own = document.currentScript;
(${INSTALL})(window, own.getAttribute("data-time"), own.getAttribute("data-url"), new URL(own.src).origin, own.getAttribute("data-token") || "", own.src);
own.remove();
})();
`;

/**
 * The script that goes before a replayed page's own: what they ask for by name at run time is asked of the archive, and
 * what an origin of nobody's lacks (storage, cookies, workers of its own) is there, empty.
 *
 * It is kept small on purpose. Nothing depends on it for safety: whatever it misses, the policy of the page refuses.
 */

/** Runs in pages and in their workers, by its text: it may name nothing outside of itself. */
const INSTALL = String.raw`function install(scope, time, page, origin, token) {
  "use strict";
  if (scope.__archivedReference) return;
  var doc = scope.document;
  var archivedPath = /^\/\d{1,14}(?:\w{2}_)?\/https?:/;
  function archived(reference, modifier) {
    if (reference === null || reference === undefined) return reference;
    var text = String(reference);
    if (text.trim() === "" || text.trim()[0] === "#") return text;
    var url;
    try { url = new URL(text, doc ? doc.baseURI : origin + "/" + time + "/" + page); } catch (e) { return text; }
    if (url.protocol !== "http:" && url.protocol !== "https:") return text;
    if (url.origin === origin) {
      if (archivedPath.test(url.pathname) || url.pathname.indexOf("/_replay/") === 0) return url.href;
      try { url = new URL(url.pathname + url.search + url.hash, page); } catch (e) { return text; }
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
    }).replace(/(@import\s+(["']))((?:https?:)?\/\/[^"']+)/gi, function (all, before, quote, url) {
      return before + archived(url, "cs_");
    });
  }
  function srcset(text) {
    return String(text).replace(/(^|,\s+|,(?=\S))\s*(\S*[^\s,])/g, function (all, before, url) {
      return before + archived(url, "im_");
    });
  }
  scope.__archivedReference = function (u) { return archived(u, "js_"); };
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

  function worker(Native, url, options) {
    var original = archived(url, "js_");
    if (/^(blob|data):/.test(original)) return new Native(original, options);
    var isModule = options && options.type === "module";
    var at = String(original).replace(/^.*?\/\d{1,14}(?:\w{2}_)?\/(?=https?:)/, "");
    var prelude = "(" + install + ")(self," + JSON.stringify(time) + "," + JSON.stringify(at) + "," + JSON.stringify(origin) + "," + JSON.stringify(token) + ");";
    var text = isModule
      ? "import " + JSON.stringify("data:text/javascript," + encodeURIComponent(prelude)) + ";import " + JSON.stringify(original) + ";"
      : prelude + "importScripts(" + JSON.stringify(original) + ");";
    return new Native(URL.createObjectURL(new Blob([text], { type: "text/javascript" })), options);
  }
  construct("Worker", worker);
  construct("SharedWorker", worker);
  wrap(scope, "importScripts", function (native) {
    return function () {
      return native.apply(scope, Array.prototype.map.call(arguments, function (url) { return archived(url, "js_"); }));
    };
  });
  if (!doc) {
    var location = new URL(page);
    define(scope, "location", {
      href: location.href, origin: location.origin, protocol: location.protocol, host: location.host,
      hostname: location.hostname, port: location.port, pathname: location.pathname, search: location.search,
      hash: location.hash, toString: function () { return location.href; }
    });
    return;
  }

  function storage() {
    var kept = new Map();
    var own = {
      getItem: function (name) { return kept.has(String(name)) ? kept.get(String(name)) : null; },
      setItem: function (name, value) { kept.set(String(name), String(value)); },
      removeItem: function (name) { kept.delete(String(name)); },
      clear: function () { kept.clear(); },
      key: function (index) { return Array.from(kept.keys())[index] === undefined ? null : Array.from(kept.keys())[index]; }
    };
    return new Proxy(own, {
      get: function (target, name) {
        if (name === "length") return kept.size;
        return name in target ? target[name] : kept.get(String(name));
      },
      set: function (target, name, value) { kept.set(String(name), String(value)); return true; },
      deleteProperty: function (target, name) { kept.delete(String(name)); return true; },
      has: function (target, name) { return name in target || kept.has(String(name)); },
      ownKeys: function () { return Array.from(kept.keys()); },
      getOwnPropertyDescriptor: function (target, name) {
        return kept.has(String(name)) ? { configurable: true, enumerable: true, writable: true, value: kept.get(String(name)) } : undefined;
      }
    });
  }
  ["localStorage", "sessionStorage"].forEach(function (name) {
    try { void scope[name].length; } catch (e) {
      var made = storage();
      Object.defineProperty(scope, name, { configurable: true, get: function () { return made; } });
    }
  });
  var cookies = new Map();
  Object.defineProperty(doc, "cookie", {
    configurable: true,
    get: function () { return Array.from(cookies, function (each) { return each[0] + "=" + each[1]; }).join("; "); },
    set: function (text) {
      var pair = /^\s*([^=;]*)=?([^;]*)/.exec(String(text)) || [];
      cookies.set((pair[1] || "").trim(), (pair[2] || "").trim());
    }
  });
  Object.defineProperty(doc, "domain", {
    configurable: true, get: function () { return new URL(page).hostname; }, set: function () {}
  });
  try { void scope.navigator.serviceWorker; } catch (e) {
    var never = new Promise(function () {});
    var container = new EventTarget();
    container.controller = null;
    container.ready = never;
    container.register = function () { return Promise.reject(new DOMException("An archived page has no service worker", "SecurityError")); };
    container.getRegistration = function () { return Promise.resolve(undefined); };
    container.getRegistrations = function () { return Promise.resolve([]); };
    container.startMessages = function () {};
    Object.defineProperty(scope.navigator, "serviceWorker", { configurable: true, value: container });
  }

  ["pushState", "replaceState"].forEach(function (name) {
    wrap(scope.History.prototype, name, function (native) {
      return function (state, title, url) { return native.call(this, state, title, archived(url, "mp_")); };
    });
  });
  wrap(scope, "open", function () {
    return function (url) {
      var wanted = scope.navigator.userActivation && scope.navigator.userActivation.isActive;
      if (wanted && url) scope.location.href = archived(url, "mp_");
      return null;
    };
  });

  function modifierOf(element, name) {
    var tag = element.localName;
    if (name === "action" || name === "formaction" || tag === "a" || tag === "area") return "mp_";
    if (tag === "script") return "js_";
    if (/^(iframe|frame|embed|object)$/.test(tag)) return "if_";
    if (tag === "link") return /\bstylesheet\b/i.test(element.rel) ? "cs_" : /\bmodulepreload\b/i.test(element.rel) ? "js_" : "im_";
    return "im_";
  }
  function changed(element, name, value) {
    if (name === "srcset" || name === "imagesrcset") return srcset(value);
    if (name === "style") return css(value);
    if (name === "target" || name === "formtarget") return /^_(blank|top|parent)$/i.test(value) ? "_self" : value;
    if (name === "data" && element.localName !== "object") return value;
    return archived(value, modifierOf(element, name));
  }
  var names = ["src", "href", "xlink:href", "srcset", "imagesrcset", "poster", "data", "action", "formaction", "background", "style", "target", "formtarget"];
  var setters = {
    HTMLImageElement: ["src", "srcset"], HTMLScriptElement: ["src"], HTMLIFrameElement: ["src"], HTMLFrameElement: ["src"],
    HTMLEmbedElement: ["src"], HTMLMediaElement: ["src"], HTMLSourceElement: ["src", "srcset"], HTMLTrackElement: ["src"],
    HTMLInputElement: ["src", "formAction"], HTMLLinkElement: ["href"], HTMLAnchorElement: ["href", "target"],
    HTMLAreaElement: ["href", "target"], HTMLObjectElement: ["data"], HTMLVideoElement: ["poster"],
    HTMLFormElement: ["action", "target"], HTMLButtonElement: ["formAction"], HTMLBaseElement: ["href"]
  };
  Object.keys(setters).forEach(function (type) {
    setters[type].forEach(function (name) {
      wrapSetter(scope[type] && scope[type].prototype, name, function (value, element) {
        return changed(element, name.toLowerCase(), String(value));
      });
    });
  });
  wrap(scope.Element.prototype, "setAttribute", function (native) {
    return function (name, value) {
      var lower = String(name).toLowerCase();
      if (lower === "integrity" || lower === "ping") return undefined;
      return native.call(this, name, names.indexOf(lower) < 0 ? value : changed(this, lower, String(value)));
    };
  });
  wrap(scope.Element.prototype, "setAttributeNS", function (native) {
    return function (space, name, value) {
      var lower = String(name).toLowerCase();
      return native.call(this, space, name, names.indexOf(lower) < 0 ? value : changed(this, lower, String(value)));
    };
  });
  ["integrity"].forEach(function (name) {
    ["HTMLScriptElement", "HTMLLinkElement"].forEach(function (type) {
      wrapSetter(scope[type].prototype, name, function () { return ""; });
    });
  });
  function markup(text) {
    return String(text).replace(/(\s(?:src|href|poster|data|action)\s*=\s*(["']?))((?:https?:)?\/\/[^\s"'>]+)/gi, function (all, before, quote, url) {
      return before + archived(url.replace(/&amp;/g, "&"), "mp_").replace(/&/g, "&amp;");
    });
  }
  ["write", "writeln"].forEach(function (name) {
    wrap(scope.Document.prototype, name, function (native) {
      return function () { return native.apply(this, Array.prototype.map.call(arguments, markup)); };
    });
  });
  ["innerHTML", "outerHTML"].forEach(function (name) {
    wrapSetter(scope.Element.prototype, name, function (value, element) {
      return element.localName === "style" ? css(value) : element.localName === "script" ? value : markup(value);
    });
  });
  wrap(scope.Element.prototype, "insertAdjacentHTML", function (native) {
    return function (where, text) { return native.call(this, where, markup(text)); };
  });
  if (scope.CSSStyleSheet) {
    wrap(scope.CSSStyleSheet.prototype, "insertRule", function (native) {
      return function (rule, index) { return native.call(this, css(rule), index); };
    });
    ["replace", "replaceSync"].forEach(function (name) {
      wrap(scope.CSSStyleSheet.prototype, name, function (native) {
        return function (text) { return native.call(this, css(text)); };
      });
    });
  }
  construct("FontFace", function (Native, family, source, descriptors) {
    return new Native(family, typeof source === "string" ? css(source) : source, descriptors || {});
  });
  construct("Audio", function (Native, source) {
    return source === undefined ? new Native() : new Native(archived(source, "im_"));
  });

  function mend(element) {
    if (element.nodeType !== 1) return;
    for (var i = 0; i < names.length; i += 1) {
      var name = names[i];
      var value = element.getAttribute(name);
      if (value === null) continue;
      var next = changed(element, name, value);
      var isOther = name === "style" || /srcset$/.test(name) ? next !== value : /^\s*(https?:|\/)/i.test(value) && next !== value &&
        next !== new URL(value, doc.baseURI).href;
      if (isOther || (/target$/.test(name) && next !== value)) element.setAttribute(name, next);
    }
    if (element.localName === "style" && element.firstChild) {
      var sheet = css(element.textContent);
      if (sheet !== element.textContent) element.textContent = sheet;
    }
  }
  new MutationObserver(function (records) {
    records.forEach(function (record) {
      if (record.type === "attributes") return mend(record.target);
      if (record.target.localName === "style") mend(record.target);
      record.addedNodes.forEach(function (node) {
        mend(node);
        if (node.querySelectorAll) node.querySelectorAll("*").forEach(mend);
      });
    });
  }).observe(doc, { subtree: true, childList: true, attributes: true, attributeFilter: names });
}`;

export const PAGE_SCRIPT = `"use strict";(function () {
var own = document.currentScript;
(${INSTALL})(window, own.getAttribute("data-time"), own.getAttribute("data-url"), new URL(own.src).origin, own.getAttribute("data-token") || "");
own.remove();
})();
`;

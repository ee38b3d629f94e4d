/** Part of the page script: references of elements and styles that scripts make. */
export const ELEMENTS = String.raw`
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
    if (name === "srcdoc") return embedded(value);
    if (name === "src" && element.localName === "iframe" && blobs.has(value)) {
      blobs.get(value).text().then(function (text) { element.srcdoc = text; });
      return "about:blank";
    }
    return archived(value, modifierOf(element, name));
  }
  /* a document that stands in an attribute has the script, too */
  function embedded(text) { return String(text).indexOf("/_replay/") < 0 ? tag + markup(text) : text; }
  var names = ["srcdoc", "src", "href", "xlink:href", "srcset", "imagesrcset", "poster", "data", "action", "formaction", "background", "style", "target", "formtarget"];
  var setters = {
    HTMLImageElement: ["src", "srcset"], HTMLScriptElement: ["src"], HTMLIFrameElement: ["src", "srcdoc"], HTMLFrameElement: ["src"],
    HTMLEmbedElement: ["src"], HTMLMediaElement: ["src"], HTMLSourceElement: ["src", "srcset"], HTMLTrackElement: ["src"],
    HTMLInputElement: ["src", "formAction"], HTMLLinkElement: ["href", "imageSrcset"], HTMLAnchorElement: ["href", "target"],
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
      return element.localName === "style" ? css(value) : element.localName === "script" ? imports(value) : markup(value);
    });
  });
  if (scope.ShadowRoot) wrapSetter(scope.ShadowRoot.prototype, "innerHTML", markup);
  ["text", "textContent", "innerText"].forEach(function (name) { wrapSetter(scope.HTMLScriptElement.prototype, name, imports); });
  wrapSetter(scope.Node.prototype, "textContent", function (value, node) {
    return node.localName === "script" && value !== null ? imports(value) : value;
  });
  wrap(scope.Element.prototype, "animate", function (native) {
    function frames(value) {
      if (typeof value === "string") return css(value);
      if (value === null || typeof value !== "object") return value;
      if (Array.isArray(value)) return value.map(frames);
      return Object.fromEntries(Object.entries(value).map(function (each) { return [each[0], frames(each[1])]; }));
    }
    return function (keyframes, options) { return native.call(this, frames(keyframes), options); };
  });
  /* captions and the like are loaded as another origin's */
  wrap(scope.Document.prototype, "createElement", function (native) {
    return function () {
      var made = native.apply(this, arguments);
      if (made.localName === "video" || made.localName === "audio") made.crossOrigin = "anonymous";
      return made;
    };
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

  /* what browsers load from the same origin only stands in the page itself */
  var sprites = new WeakMap();
  function use(element) {
    var name = element.hasAttribute("href") ? "href" : "xlink:href";
    var reference = /^([^#]+)#(.+)$/.exec(element.getAttribute(name) || "");
    if (!reference) return;
    var root = element.getRootNode();
    var into = root === doc ? doc.body || doc.documentElement : root;
    var known = sprites.get(root) || {};
    sprites.set(root, known);
    var url = archived(reference[1], "im_");
    known[url] = known[url] || scope.fetch(url).then(function (answer) { return answer.text(); }).then(function (text) {
      var sprite = doc.adoptNode(new DOMParser().parseFromString(text, "image/svg+xml").documentElement);
      sprite.setAttribute("aria-hidden", "true");
      sprite.setAttribute("style", "position:absolute!important;width:0!important;height:0!important;overflow:hidden!important");
      sprite.querySelectorAll("script").forEach(function (script) { script.remove(); });
      into.appendChild(sprite);
      return sprite;
    });
    known[url].then(function (sprite) {
      var id;
      try { id = decodeURIComponent(reference[2]); } catch (e) { id = reference[2]; }
      var target = sprite.querySelector("#" + CSS.escape(id));
      if (!target) return;
      if (root.querySelector("#" + CSS.escape(target.id)) !== target) target.id = "archived-" + Math.random().toString(36).slice(2);
      element.setAttribute(name, "#" + target.id);
    }, function () {});
  }
  function mend(element) {
    if (element.nodeType !== 1) return;
    if (element.localName === "use") use(element);
    if (element.localName === "link" && /^fetch$/i.test(element.getAttribute("as") || "") && token) {
      var ahead = asked(element.getAttribute("href"));
      if (!/archive-token=/.test(element.getAttribute("href"))) element.setAttribute("href", ahead);
    }
    for (var i = 0; i < names.length; i += 1) {
      var name = names[i];
      var value = element.getAttribute(name);
      if (value === null) continue;
      var next = changed(element, name, value);
      var isOther = name === "style" || name === "srcdoc" || /srcset$/.test(name) ? next !== value : /^\s*(https?:|\/)/i.test(value) && next !== value &&
        next !== new URL(value, doc.baseURI).href;
      if (isOther || (/target$/.test(name) && next !== value)) element.setAttribute(name, next);
    }
    if (element.localName === "style" && element.firstChild) {
      var sheet = css(element.textContent);
      if (sheet !== element.textContent) element.textContent = sheet;
    }
  }
  var observer = new MutationObserver(function (records) {
    records.forEach(function (record) {
      if (record.type === "attributes") return mend(record.target);
      if (record.target.localName === "style") mend(record.target);
      record.addedNodes.forEach(function (node) {
        mend(node);
        if (node.querySelectorAll) node.querySelectorAll("*").forEach(mend);
      });
    });
  });
  var observed = { subtree: true, childList: true, attributes: true, attributeFilter: names };
  observer.observe(doc, observed);
  wrap(scope.Element.prototype, "attachShadow", function (native) {
    return function (options) {
      var root = native.call(this, options);
      observer.observe(root, observed);
      return root;
    };
  });
`;

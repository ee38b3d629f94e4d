/** Part of the page script: storage, cookies and the like of a page without origin, which are there, empty. */
export const STORAGE = String.raw`
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
  }`;

/** Part of the page script: workers, which browsers start for a page without origin from blobs alone. */
export const WORKERS = String.raw`
  var blobs = new Map();
  var specifier = /(\bfrom\s*|\bimport\s*\(?\s*)(["'])((?:https?:)?\/[^"']*)\2/g;
  /* what modules that are made at run time name */
  function imports(text) {
    return String(text).replace(specifier, function (all, before, quote, name) { return before + quote + archived(name, "js_") + quote; });
  }
  construct("Blob", function (Native, parts, options) {
    var isScript = options && /javascript|ecmascript/i.test(options.type) && Array.isArray(parts);
    return new Native(isScript ? parts.map(function (part) { return typeof part === "string" ? imports(part) : part; }) : parts || [], options || {});
  });
  if (scope.URL) {
    wrap(scope.URL, "createObjectURL", function (native) {
      return function (made) {
        var isBlob = made instanceof scope.Blob;
        var isPage = doc && isBlob && /html/.test(made.type);
        var url = native.call(scope.URL, isPage ? new scope.Blob([tag, made], { type: made.type }) : made);
        if (isBlob) blobs.set(url, made);
        return url;
      };
    });
    wrap(scope.URL, "revokeObjectURL", function (native) {
      return function (url) { blobs.delete(String(url)); return native.call(scope.URL, url); };
    });
  }
  /* Runs in a worker: browsers start no module there either, but import one; what it is sent meanwhile waits for it. */
  function startModule(url) {
    var waiting = [];
    function hold(event) { event.stopImmediatePropagation(); waiting.push(event); }
    addEventListener("message", hold);
    import(url).then(function () {
      removeEventListener("message", hold);
      waiting.forEach(function (event) { dispatchEvent(new MessageEvent("message", { data: event.data, ports: event.ports.slice() })); });
    }, function (error) { setTimeout(function () { throw error; }); });
  }
  function worker(Native, url, options) {
    var from = String(archived(url, "js_"));
    var at = /^(blob|data):/.test(from) ? page : original(from);
    var given = [time, at, origin, token, own].map(function (value) { return JSON.stringify(value); });
    var parts = ["(" + install + ")(self," + given.join(",") + ");\n"];
    if (options && options.type === "module") {
      var text = blobs.has(from) ? URL.createObjectURL(blobs.get(from)) : from;
      parts.push("(" + startModule + ")(" + JSON.stringify(text) + ");");
    } else if (blobs.has(from)) parts.push(blobs.get(from));
    else parts.push("importScripts(" + JSON.stringify(from) + ");");
    var name = options && options.name ? { name: options.name } : {};
    return new Native(URL.createObjectURL(new Blob(parts, { type: "application/octet-stream" })), name);
  }
  construct("Worker", worker);
  construct("SharedWorker", worker);
  wrap(scope, "importScripts", function (native) {
    return function () {
      return native.apply(scope, Array.prototype.map.call(arguments, function (url) { return archived(url, "js_"); }));
    };
  });
  if (scope.Worklet) wrap(scope.Worklet.prototype, "addModule", function (native) {
    return function (url, options) { return native.call(this, archived(url, "js_"), options); };
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
`;

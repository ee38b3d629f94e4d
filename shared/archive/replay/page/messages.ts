/**
 * Part of the page script: messages between windows. Replayed pages are of no origin, so that none could be addressed
 * by its own, or be told from another: the origins travel with what is sent.
 */
export const MESSAGES = `
  var pageOrigin = new URL(page).origin;
  var SENT = "__archivedMessage";
  function sentWith(value) {
    return value !== null && typeof value === "object" && Object.prototype.hasOwnProperty.call(value, SENT) ? value[SENT] : undefined;
  }
  function send(post, args) {
    var given = args[1];
    var options = given !== null && typeof given === "object" ? given : { targetOrigin: given, transfer: args[2] };
    var target = options.targetOrigin === undefined ? "/" : String(options.targetOrigin);
    var to = target === "*" ? target : target === "/" ? pageOrigin : new URL(target).origin;
    var message = {};
    message[SENT] = { from: pageOrigin, to: to === origin ? "*" : to, data: args[0] };
    post(message, options.transfer || []);
  }
  wrap(scope, "postMessage", function (native) {
    return function () {
      send(function (message, transfer) { native.call(scope, message, "*", transfer); }, arguments);
    };
  });
  /* stand for windows of other origins, which every other archived page is: the same one for the same window */
  var windows = new WeakMap();
  function isApart(other) {
    try { void other.document; return false; } catch (e) { return true; }
  }
  function apart(other) {
    if (!other || other === scope || !isApart(other)) return other;
    var made = windows.get(other);
    if (made) return made;
    function post() {
      send(function (message, transfer) { other.postMessage(message, "*", transfer); }, arguments);
    }
    function leave(url) { other.location.replace(archived(url, "if_")); }
    var place = { assign: leave, replace: leave };
    Object.defineProperty(place, "href", { set: leave });
    made = new Proxy({}, {
      get: function (target, name) {
        if (name === "postMessage") return post;
        if (name === "location") return place;
        if (name === "window" || name === "self" || name === "frames") return made;
        if (name === "parent" || name === "top" || name === "opener") return apart(other[name]);
        var value = other[name];
        return typeof value === "function" ? value.bind(other) : value;
      },
      set: function (target, name, value) {
        if (name === "location") leave(value);
        else other[name] = value;
        return true;
      }
    });
    windows.set(other, made);
    return made;
  }
  wrapGetter(scope.MessageEvent.prototype, "data", function (value) {
    var sent = sentWith(value);
    return sent ? sent.data : value;
  });
  var nativeData = Object.getOwnPropertyDescriptor(scope.MessageEvent.prototype, "data").get.native;
  wrapGetter(scope.MessageEvent.prototype, "origin", function (value, event) {
    var sent = sentWith(nativeData.call(event));
    return sent ? sent.from : value;
  });
  wrapGetter(scope.MessageEvent.prototype, "source", apart);
  scope.addEventListener("message", function (event) {
    var sent = sentWith(nativeData.call(event));
    if (sent && sent.to !== "*" && sent.to !== pageOrigin) event.stopImmediatePropagation();
  }, true);
  /* the page that is looked at fills its window: the frame around it is ours */
  var outer = scope.parent;
  if (outer !== scope) {
    var shown = outer === scope.top ? scope : apart(outer);
    Object.defineProperty(scope, "parent", { configurable: true, get: function () { return shown; }, set: function (value) { shown = value; } });
  }
  function within(other, element) {
    if (!other) return other;
    if (!isApart(other)) {
      if (other !== scope && /^(about:|$)/.test(other.location.href) && !other.__archivedReference) install(other, time, page, origin, token, own);
      return other;
    }
    return /^(data|javascript):/i.test(element.getAttribute("src") || element.getAttribute("data") || "") ? other : apart(other);
  }
  ["HTMLIFrameElement", "HTMLFrameElement", "HTMLObjectElement"].forEach(function (type) {
    if (!scope[type]) return;
    wrapGetter(scope[type].prototype, "contentWindow", within);
    wrapGetter(scope[type].prototype, "contentDocument", function (value, element) {
      if (value && value.defaultView) within(value.defaultView, element);
      return value;
    });
  });
`;

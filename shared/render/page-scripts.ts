/** What both renderers run inside a page: whether it shows anything yet, and what lies in its shadow roots. */

/** What a page says until its scripts have run. */
const LOADS =
  /^[\s\p{P}\p{S}]*(?:(?:the |this )?(?:page|app|application|site|content)? ?(?:is )?(?:loading|initiali[sz]ing)|please wait|one moment|just a moment|wird geladen|wir laden|lädt|bitte warten|chargement|cargando|carregando|caricamento|laden|загрузка|读取中|加载中|載入中|読み込み中|ロード中|로딩)[^.!?]{0,60}[\s\p{P}\p{S}]*$/iu;

/** Whether a text says nothing but that the page is loading. */
export const onlyLoads = (text: string): boolean => LOADS.test(text);

/** For a page that has loaded without a word. */
export const LONGEST_SILENCE_MS = 5_000;

/** UTF-16 code units of HTML. */
export const LARGEST_DOM = 20_000_000;

/** An expression: the beginning of the page's text, shadow roots included. */
export const SHOWN_TEXT = `(() => {
  const text = document.body ? document.body.innerText : "";
  if (text.trim() !== "") return text.slice(0, 500);
  for (const each of document.querySelectorAll("*")) {
    const inside = each.shadowRoot ? each.shadowRoot.textContent : "";
    if (inside.trim() !== "") return inside.slice(0, 500);
  }
  return "";
})()`;

/** An expression: whether the page shows more than that it loads. */
export const SHOWS_TEXT = `((text) => text.trim() !== "" && !${LOADS}.test(text))(${SHOWN_TEXT})`;

/** A statement: what lies in open shadow roots is copied into their hosts, where readers of HTML find it. */
export const COPY_SHADOW_ROOTS = `{
  const hosts = [];
  const look = (root) => {
    for (const each of root.querySelectorAll("*")) {
      if (each.shadowRoot && hosts.length < 10000) { hosts.push(each); look(each.shadowRoot); }
    }
  };
  look(document);
  for (const host of hosts.reverse()) {
    const copy = document.createElement("div");
    for (const node of host.shadowRoot.childNodes) {
      if (!/^(style|script|link)$/i.test(node.nodeName)) copy.append(node.cloneNode(true));
    }
    host.prepend(copy);
  }
}`;

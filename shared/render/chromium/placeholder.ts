/** Recognises what a page says until its scripts have run. */

const LOADS =
  /^[\s\p{P}\p{S}]*(?:(?:the |this )?(?:page|app|application|site|content)? ?(?:is )?(?:loading|initiali[sz]ing)|please wait|one moment|just a moment|wird geladen|wir laden|lädt|bitte warten|chargement|cargando|carregando|caricamento|laden|загрузка|读取中|加载中|載入中|読み込み中|ロード中|로딩)[^.!?]{0,60}[\s\p{P}\p{S}]*$/iu;

/** Whether a text says nothing but that the page is loading. */
export const onlyLoads = (text: string): boolean => LOADS.test(text);

/**
 * Recognises languages by the small words that no sentence does without; on a sentence or two they are surer than
 * letter statistics.
 */

const WORDS: Record<string, string> = {
  en:
    "the of and to in is for that with on are this be it from by was as at or an not have has you we which " +
    "their will its",
  fr:
    "le la les de des du et à un une en est que qui dans pour pas sur avec par au aux ce cette il elle sont ne " +
    "se plus ou où été ont l d qu",
  de:
    "der die das und in den von zu mit ist im des dem nicht ein eine einer auf für sich auch als an werden " +
    "wird bei sind es oder hat aus nach wie",
  es:
    "el la los las de y en que un una por con para es se no su al del lo como más o pero sus este esta ha fue " +
    "son sobre",
  it:
    "il la le di e che in un una per con non del della è si da al dei gli nel alla sono come anche più i lo ha " +
    "questo o dal delle",
  pt: "o a os as de e que em um uma para com não por do da dos das no na se mais ao como foi é ou sua são pela pelo",
  nl:
    "de het een van en in is dat op te zijn voor met niet aan er die door bij ook als om naar wordt of worden " +
    "uit heeft maar",
  sv: "och i att det som en på är av för med den till inte om ett har de från kan var vid eller men så",
  da: "og i at det som en på er af for med den til ikke om et har de fra kan var ved eller men så blev",
  no: "og i at det som en på er av for med den til ikke om et har de fra kan var ved eller men så ble",
  fi: "ja on ei että se oli hän mutta ovat kun myös tai joka sen mukaan kuin ole jos voi vain",
  pl: "i w na z się nie to że do jest o jak ale po dla co od przez za są być przy oraz lub tym",
  cs: "a v se na je to že s z do o i pro jako by po které který jsou nebo ale od při jeho podle",
  ro: "și de la în a pe cu o nu un din că se este pentru care mai sau sunt prin ca al",
  hu: "a az és hogy nem is egy van de meg azt csak volt vagy mint már ha ez lehet",
  tr: "ve bir bu da de için ile olarak çok daha olan gibi kadar sonra ne en veya olduğu değil",
  id: "yang dan di untuk dengan dari pada ini dalam itu tidak adalah akan ke oleh atau dapat juga sebagai",
  ru: "и в на не что с по как к из для это у за от о до при его но или все также был",
  uk: "і в на не що з до як для та це від за у про при або його але також є було",
  bg: "и в на да се за от не че с по като е са този това или до при но",
  ar: "في من على أن إلى عن مع التي هذا هذه الذي ما لا كان بين و",
  fa: "در و به از که این را با است برای آن یک می های تا بر",
};

const LANGUAGES_OF = new Map<string, string[]>();
for (const [language, words] of Object.entries(WORDS)) {
  for (const word of words.split(" ")) {
    const known = LANGUAGES_OF.get(word);
    if (known === undefined) LANGUAGES_OF.set(word, [language]);
    else known.push(language);
  }
}

const MIN_HITS = 4;
const MIN_SHARE = 0.14;
/** How far ahead of the second language the first one must be: neighbours share a good part of their words. */
const LEAD = 1.15;

/**
 * Names the language of a text by its small words.
 * @returns an ISO 639-1 code, or null where they do not decide
 */
export function languageByFunctionWords(text: string): string | null {
  const words = text.toLowerCase().match(/[\p{L}\p{M}]+/gu) ?? [];
  const hits = new Map<string, number>();
  for (const word of words) {
    for (const language of LANGUAGES_OF.get(word) ?? []) hits.set(language, (hits.get(language) ?? 0) + 1);
  }
  const [best, second] = [...hits].sort(([, left], [, right]) => right - left);
  if (best === undefined || best[1] < MIN_HITS || best[1] < words.length * MIN_SHARE) return null;
  return second !== undefined && best[1] < second[1] * LEAD ? null : best[0];
}

/** Pages of about 12.8 KB (1,900 words) with 30 links each, all reachable from page 0; the same in every run. */
const WORDS_PER_PAGE = 1900;
const LINKS_PER_PAGE = 30;

/** Mulberry32: the same site in every run. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const SYLLABLES = "ba ce di fo gu ka le mi no pu ra se ti vo zu che sta pli gro fne".split(" ");
const vocabulary = Array.from({ length: 8000 }, (_, index) => {
  const random = randomFrom(index + 1);
  const length = 1 + Math.floor(random() * 3);
  return Array.from({ length }, () => SYLLABLES[Math.floor(random() * SYLLABLES.length)]).join("");
});

/** Words as natural text has them: a few very often, most of them seldom. */
function word(random: () => number): string {
  return vocabulary[Math.floor(vocabulary.length * random() ** 3)] as string;
}

/**
 * @param pages of the whole site
 * @param site sites of different numbers have different texts
 */
export function renderPage(index: number, pages: number, site = 0): string {
  const random = randomFrom(index + 1_000_003 + site * 7_919);
  const links = Array.from({ length: LINKS_PER_PAGE }, (_, at) => {
    // the first links make a tree that reaches every page; the others lead anywhere
    const target = at < 4 ? index * 4 + at + 1 : Math.floor(random() * pages);
    return `<li><a href="/page/${target % pages}">${word(random)} ${word(random)}</a></li>`;
  });
  const paragraphs: string[] = [];
  for (let written = 0; written < WORDS_PER_PAGE; written += 95) {
    if (paragraphs.length % 5 === 0) paragraphs.push(`<h2>${word(random)} ${word(random)}</h2>`);
    paragraphs.push(`<p>${Array.from({ length: 95 }, () => word(random)).join(" ")}.</p>`);
  }
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Page ${index} ${word(random)}</title>
<meta name="description" content="${word(random)} ${word(random)}"></head><body><nav><ul>${links.slice(0, 10).join("")}</ul></nav>
<main><h1>Page ${index}</h1>${paragraphs.join("\n")}<ul>${links.slice(10).join("")}</ul></main></body></html>`;
}

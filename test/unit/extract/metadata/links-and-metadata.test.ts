import { describe, expect, it } from "vitest";
import { extractPage } from "../../../../shared/extract/extract-page.ts";
import { isoDate } from "../../../../shared/extract/metadata/dates.ts";
import { refreshTarget } from "../../../../shared/extract/parse/refresh.ts";

const url = "https://docs.example.org/guide/start.html";
const page = (head: string, body = "", attributes = ""): string =>
  `<!doctype html><html ${attributes}><head>${head}</head><body>${body}</body></html>`;

describe("links", () => {
  it("resolves against the page, drops fragments, keeps document order and each URL once", () => {
    const { links } = extractPage(
      page("", `<a href="b.html#top">B</a><a href="/a">A</a><a href="b.html">again</a><a href="?q=1">Q</a>`),
      { url },
    );
    expect(links).toEqual([
      "https://docs.example.org/guide/b.html",
      "https://docs.example.org/a",
      "https://docs.example.org/guide/start.html?q=1",
    ]);
  });

  it("uses the first base href only, itself resolved against the page", () => {
    const { links } = extractPage(page(`<base href="/v2/"><base href="https://evil.example/">`, `<a href="x">x</a>`), {
      url,
    });
    expect(links).toEqual(["https://docs.example.org/v2/x"]);
  });

  it("ignores a base that is no http URL", () => {
    expect(extractPage(page(`<base href="javascript:1">`, `<a href="x">x</a>`), { url }).links).toEqual([
      "https://docs.example.org/guide/x",
    ]);
  });

  it("keeps http and https only, and survives what is no URL", () => {
    const hrefs = [
      "mailto:a@b.c",
      "javascript:void(0)",
      "data:text/html,x",
      "ftp://h/x",
      "http://[::bad/",
      "//cdn.example/x",
    ];
    const { links } = extractPage(page("", hrefs.map((href) => `<a href="${href}">x</a>`).join("")), { url });
    expect(links).toEqual(["https://cdn.example/x"]);
  });

  it("finds links in navigation, in areas and behind rel=nofollow, and none in scripts or templates", () => {
    const body = `<nav><a href="/nav">n</a></nav><map><area href="/area"></map><a rel="nofollow" href="/nf">f</a>
      <script>"<a href='/script'>"</script><template><a href="/template">t</a></template>`;
    expect(extractPage(page("", body), { url }).links).toEqual([
      "https://docs.example.org/nav",
      "https://docs.example.org/area",
      "https://docs.example.org/nf",
    ]);
  });

  it("follows frames, and where a page sends its readers on", () => {
    const head = `<meta http-equiv="Refresh" content="0; URL='/en/'">`;
    const body = `<iframe src="embedded.html"><a href="/fallback">f</a></iframe><a href="/after">a</a>`;
    expect(extractPage(page(head, body), { url }).links).toEqual([
      "https://docs.example.org/en/",
      "https://docs.example.org/guide/embedded.html",
      "https://docs.example.org/after",
    ]);
    const frames = `<html><frameset cols="20%,80%"><frame src="menu.html"><frame src="main.html"></frameset></html>`;
    expect(extractPage(frames, { url }).links).toEqual([
      "https://docs.example.org/guide/menu.html",
      "https://docs.example.org/guide/main.html",
    ]);
  });

  it.each([
    ["0;url=/a", "/a"],
    ["5 ; url = /a b", "/a b"],
    [" 0.5,/a", "/a"],
    ["0 /a", "/a"],
    [`1; url="/a'b" c`, "/a'b"],
    ["0; url='/a", "/a"],
    ["0; URL=url.html", "url.html"],
    ["300", null],
    ["300;", null],
    ["0; url=", null],
    ["0; url=''", null],
    ["soon; url=/a", null],
    ["0url=/a", null],
    [`0${" ".repeat(100_000)}x`, "x"],
  ])("reads a refresh as browsers do: %j", (content, target) => {
    expect(refreshTarget(content)).toBe(target);
  });

  it("decodes entities in href", () => {
    expect(extractPage(page("", `<a href="/s?a=1&amp;b=2">x</a>`), { url }).links).toEqual([
      "https://docs.example.org/s?a=1&b=2",
    ]);
  });
});

describe("metadata", () => {
  it("prefers og:title to title to h1", () => {
    const og = `<meta property="og:title" content=" Open  Graph ">`;
    expect(extractPage(page(`${og}<title>T</title>`, "<h1>H</h1>"), { url }).title).toBe("Open Graph");
    expect(extractPage(page("<title>T &amp; U</title>", "<h1>H</h1>"), { url }).title).toBe("T & U");
    expect(extractPage(page("", "<h1>H <em>one</em></h1>"), { url }).title).toBe("H one");
    expect(extractPage(page("", "<p>nothing"), { url }).title).toBeNull();
  });

  it("does not take the title of an inline SVG for the page's", () => {
    expect(extractPage(page("<title>Real</title>", "<svg><title>Icon</title></svg>"), { url }).title).toBe("Real");
  });

  it("reads description, author, keywords, image and canonical, the last two absolute", () => {
    const { metadata, canonicalUrl } = extractPage(
      page(`<meta name=Description content="About&#10; it"><meta name=author content="Ann"><meta name=keywords content="a, b,, a">
        <meta property="og:image" content="/i.png"><link rel="alternate canonical" href="../x">`),
      { url },
    );
    expect(metadata).toEqual({
      author: "Ann",
      description: "About it",
      keywords: ["a", "b"],
      ogImage: "https://docs.example.org/i.png",
      publishDate: null,
    });
    expect(canonicalUrl).toBe("https://docs.example.org/x");
  });

  it("falls back to JSON-LD, graphs and lists of authors included", () => {
    const data = {
      "@graph": [
        { "@type": "Organization", name: "Org" },
        {
          "@type": ["NewsArticle"],
          datePublished: "2024-03-01T10:00:00+02:00",
          author: [{ name: "A" }, { name: "B" }],
        },
      ],
    };
    const { metadata } = extractPage(page(`<script type="application/ld+json">${JSON.stringify(data)}</script>`), {
      url,
    });
    expect(metadata.author).toBe("A, B");
    expect(metadata.publishDate).toBe("2024-03-01T08:00:00.000Z");
  });

  it.each([
    ["a person as the name", { author: { "@type": "Person", name: { "@type": "Person", name: "Ada Strand" } } }],
    ["values with a language", { author: { name: { "@value": "Ada Strand", "@language": "en" } } }],
    ["a value", { author: { "@value": "Ada Strand" } }],
    ["given and family name", { author: { givenName: "Ada", familyName: { "@value": "Strand" } } }],
    ["a list of one", { author: [{ name: ["Ada Strand"] }] }],
    [
      "a reference",
      { author: { "@id": "#ada" }, mainEntity: { "@id": "#ada", givenName: "Ada", familyName: "Strand" } },
    ],
    ["an episode", { "@type": "PodcastEpisode", author: "Ada Strand" }],
    ["a song", { "@type": ["MusicRecording"], creator: { name: "Ada Strand" } }],
    ["a work of art", { "@type": "VisualArtwork", creator: { name: "Ada Strand" } }],
    ["a cover", { "@type": ["Product", "http://schema.org/CoverArt"], artist: { name: "Ada Strand" } }],
    ["an archive's item", { "@type": ["ArchiveComponent", "Thing"], author: "Ada Strand" }],
    ["a data feed", { "@type": "DataFeed", creator: [{ "@type": "Person", name: "Ada Strand" }] }],
    ["a quotation", { "@type": "schema:Quotation", creator: "Ada Strand" }],
    ["notes of music", { "@type": "SheetMusic", author: "Ada Strand" }],
    ["a guide", { "@type": ["WebContent"], author: "Ada Strand" }],
    ["a film", { "@type": "Movie", author: { name: "Ada Strand" } }],
    ["entities", { author: "Ada&#32;Strand" }],
  ])("reads the names of JSON-LD in whatever form: %s", (_form, data) => {
    const script = JSON.stringify({ "@type": "Article", ...data });
    const found = extractPage(page(`<script type="application/ld+json">${script}</script>`, "<p>x"), { url });
    expect(found.metadata.author).toBe("Ada Strand");
  });

  it("takes the author of the article, not of the picture or comment beside it", () => {
    const graph = [
      { "@type": "VideoObject", author: { name: "Vera Film" }, description: "a film" },
      { "@type": "ImageObject", author: { name: "Ida Lens" } },
      { "@type": "NewsArticle", author: { name: "Ada Strand" }, description: { "@value": "A  story" } },
    ];
    const script = JSON.stringify({ "@graph": graph, "@type": "Thing", keywords: "x" });
    const { metadata } = extractPage(page(`<script type="application/ld+json">${script}</script>`, "<p>x"), { url });
    expect(metadata).toMatchObject({ author: "Ada Strand", description: "A story" });
    const loop = {
      "@type": "Article",
      author: { name: { name: { name: { name: { name: { name: { name: { name: "x" } } } } } } } },
    };
    const deep = `<script type="application/ld+json">${JSON.stringify(loop)}</script>`;
    expect(extractPage(page(deep, "<p>x"), { url }).metadata.author).toBeNull();
  });

  it("passes over broken JSON-LD", () => {
    const head = `<script type="application/ld+json">{"@type":"Article",</script><meta name=author content=Ann>`;
    expect(extractPage(page(head), { url }).metadata.author).toBe("Ann");
  });

  it("takes the first date that parses: meta before JSON-LD before time", () => {
    const time = `<time datetime="2020-01-02">long ago</time>`;
    expect(extractPage(page("", time), { url }).metadata.publishDate).toBe("2020-01-02");
    const broken = `<meta property="article:published_time" content="soon">`;
    expect(extractPage(page(broken, time), { url }).metadata.publishDate).toBe("2020-01-02");
    const meta = `<meta property="article:published_time" content="2021-05-06T07:08:09Z">`;
    expect(extractPage(page(meta, time), { url }).metadata.publishDate).toBe("2021-05-06T07:08:09.000Z");
  });

  it("reads noindex and nofollow from meta and from the header, and not what is meant for another robot", () => {
    const robots = (head: string, robotsHeader: string | null = null) =>
      extractPage(page(head), { url, robotsHeader }).robots;
    expect(robots("")).toEqual({ noindex: false, nofollow: false });
    expect(robots(`<meta name=ROBOTS content="NoIndex">`)).toEqual({ noindex: true, nofollow: false });
    expect(robots(`<meta name=robots content="none">`)).toEqual({ noindex: true, nofollow: true });
    expect(robots("", "nofollow, noarchive")).toEqual({ noindex: false, nofollow: true });
    expect(robots("", "googlebot: noindex, nofollow")).toEqual({ noindex: false, nofollow: false });
    expect(robots("", "otherbot: noindex, strandline: nofollow")).toEqual({ noindex: false, nofollow: true });
    expect(robots(`<meta name=googlebot content="noindex">`)).toEqual({ noindex: false, nofollow: false });
  });
});

describe("language", () => {
  const french =
    "Le gouvernement a annoncé mardi une réforme des retraites qui devrait entrer en vigueur en septembre prochain dans tout le pays.";

  it("believes lang, then the meta, then the header, then the text", () => {
    expect(extractPage(page("", french, `lang="en-GB"`), { url }).language).toBe("en");
    const meta = `<meta http-equiv="Content-Language" content="de, en">`;
    expect(extractPage(page(meta, french), { url, contentLanguage: "it" }).language).toBe("de");
    expect(extractPage(page("", french), { url, contentLanguage: "it-IT" }).language).toBe("it");
    expect(extractPage(page("", `<p>${french}`), { url }).language).toBe("fr");
  });

  it.each([
    [
      "de",
      "Die Bundesregierung hat am Dienstag eine Reform der Renten angekündigt, die im September in Kraft treten soll.",
    ],
    [
      "en",
      "The government announced on Tuesday a reform of the pension system that should come into force in September.",
    ],
    [
      "es",
      "El gobierno anunció el martes una reforma del sistema de pensiones que debería entrar en vigor en septiembre.",
    ],
    ["ja", "政府は火曜日に年金制度の改革を発表しました。この改革は九月から施行される予定です。"],
    ["zh", "政府周二宣布了一项养老金制度改革，预计将于九月生效，影响数百万退休人员。"],
    [
      "ru",
      "Правительство объявило во вторник о реформе пенсионной системы, которая должна вступить в силу в сентябре.",
    ],
    ["ko", "정부는 화요일에 연금 제도 개혁을 발표했으며 이 개혁은 구월부터 시행될 예정이다."],
  ])("tells %s from its text", (language, text) => {
    expect(extractPage(page("", `<p>${text}</p>`), { url }).language).toBe(language);
  });

  it("does not take Latin letters for a language of another script", () => {
    const terse =
      "Endpoint /api/v1/search. Method POST. Body query limit cursor filter. Status 200 400 401 403 404 413 429. Retry-After seconds. Header X-Request-Id.";
    expect(["en", "und"]).toContain(extractPage(page("", `<p>${terse}</p>`), { url }).language);
  });

  it("says und when unsure, and for a declaration that names no language", () => {
    expect(extractPage(page("", "<p>OK"), { url }).language).toBe("und");
    expect(extractPage(page("", "<p>OK", `lang="x-default"`), { url }).language).toBe("und");
    expect(extractPage(page("", "<p>OK", `lang="und"`), { url }).language).toBe("und");
  });
});

it("links in drawings lead somewhere", () => {
  const svg =
    '<svg><a href="/north"><text>North</text></a><a xlink:href="/south"><path d="M1 1"/></a><a>none</a></svg>';
  expect(extractPage(page("", `<p>Chart</p>${svg}`), { url, anchors: true })).toMatchObject({
    links: [new URL("/north", url).href, new URL("/south", url).href],
    anchors: ["", ""],
  });
});

it.each([
  ["windows-1252", "/s?q=größe&x=€#ü", "/s?q=gr%F6%DFe&x=%80"],
  ["windows-1251", "/s?q=дом", "/s?q=%E4%EE%EC"],
  ["ISO-8859-2", "/s?q=ł中", "/s?q=%B3%26%2320013%3B"],
  ["Shift_JIS", "/漁?q=漁港", "/%E6%BC%81?q=%8B%99%8D%60"],
  ["GBK", "/s?q=中文", "/s?q=%D6%D0%CE%C4"],
  ["EUC-KR", "/s?q=항구", "/s?q=%C7%D7%B1%B8"],
  ["Big5", "/s?q=港", "/s?q=%B4%E4"],
  ["UTF-8", "/ü?q=ü", "/%C3%BC?q=%C3%BC"],
  ["UTF-16LE", "/s?q=ü", "/s?q=%C3%BC"],
])("queries of links are in the encoding of the page: %s", (charset, href, expected) => {
  const found = extractPage(page("", `<main><p>See <a href="${href}">a</a>.`), { url, charset });
  expect(found.links).toEqual([new URL(expected, url).href]);
  expect(found.markdown).toContain(`](${new URL(expected, url).origin}${expected}`);
});

describe("dates", () => {
  it.each([
    ["2024-05-01", "2024-05-01"],
    ["20240501", "2024-05-01"],
    ["2024-05-01T10:00:00Z", "2024-05-01T10:00:00.000Z"],
    ["2024-05-01 10:00", "2024-05-01T10:00:00.000Z"],
    ["2024-05-01T10:00:00.123+0530", "2024-05-01T04:30:00.000Z"],
    ["Wed, 01 May 2024 10:00:00 GMT", "2024-05-01T10:00:00.000Z"],
    ["May 1, 2024", "2024-05-01"],
    ["1 May 2024", "2024-05-01"],
    ["May 1st, 2024 at 3:05 pm", "2024-05-01T15:05:00.000Z"],
    ["2021/04/05", "2021-04-05"],
    ["2010/5/12", "2010-05-12"],
    ["2024.05.01", "2024-05-01"],
    ["2024-5-1", "2024-05-01"],
    ["2024/05/01 9:05", "2024-05-01T09:05:00.000Z"],
    ["1.5.2024", "2024-05-01"],
    ["01.05.2024, 10:00 Uhr", "2024-05-01T10:00:00.000Z"],
    ["2024年5月1日", "2024-05-01"],
    ["Mon, 21 Apr 2025 06:00:00 EDT", "2025-04-21T10:00:00.000Z"],
    ["April 21, 2025 6:00 PM PST", "2025-04-22T02:00:00.000Z"],
    ["1 March 2024, 10:00 CET", "2024-03-01T09:00:00.000Z"],
    ["1 May 2024 10:00 (CEST)", "2024-05-01T08:00:00.000Z"],
    ["2024-05-01 10:00 EST", "2024-05-01T15:00:00.000Z"],
    ["1 May 2024 10:00 GMT+2", "2024-05-01T08:00:00.000Z"],
    ["1 May 2024 10:00 IST", "2024-05-01"],
    ["2024-05-01T10:00:00 XYZ", "2024-05-01"],
  ])("%s is %s", (written, expected) => expect(isoDate(written)).toBe(expected));

  it.each(["", "yesterday", "2024-02-30", "2024-13-01", "0000-00-00", "Foo 12, 2024", "2024-05-01T25:00:00Z", "12345"])(
    "%j is no date",
    (written) => expect(isoDate(written)).toBeNull(),
  );
});

describe("author", () => {
  const author = (head: string, body = ""): string | null => extractPage(page(head, body), { url }).metadata.author;
  const jsonLd = (value: unknown): string => `<script type="application/ld+json">${JSON.stringify(value)}</script>`;

  it.each([
    ["meta names", `<meta name="parsely-author" content="Ann Shore">`, "", "Ann Shore"],
    [
      "several meta elements",
      `<meta name=citation_author content="A One"><meta name=citation_author content="B Two">`,
      "",
      "A One, B Two",
    ],
    ["a byline in a meta element", `<meta name="byl" content="By ANN SHORE">`, "", "ANN SHORE"],
    [
      "a profile's address passes the question on",
      `<meta property="article:author" content="https://x.example/ann">`,
      `<a rel=author href=/ann>Ann Shore</a>`,
      "Ann Shore",
    ],
    [
      "microdata with an item",
      "",
      `<div itemprop=author itemscope>By <a href=/ann><span itemprop=name>Ann Shore</span></a>, editor</div>`,
      "Ann Shore",
    ],
    ["microdata without one", "", `<span itemprop=author>Ann Shore</span>`, "Ann Shore"],
    ["rel=author", "", `<p>Posted by <a rel="author nofollow" href=/ann>Ann Shore</a></p>`, "Ann Shore"],
    ["a customary class", "", `<p class="meta byline">By Ann Shore</p>`, "Ann Shore"],
    ["the author of a comment is none of the page", "", `<p class="comment-author">Zed</p>`, null],
    [
      "a sentence is no name",
      "",
      `<p class=author>${"Ann has written about the tide for many years. ".repeat(4)}</p>`,
      null,
    ],
    ["a name that begins like a preposition stays whole", "", `<p class=author>Byron Vonnegut</p>`, "Byron Vonnegut"],
    ["nobody", `<meta name=author content=" ">`, `<p>By the sea</p>`, null],
  ])("%s", (_, head, body, expected) => {
    expect(author(head, body)).toBe(expected);
  });

  it("follows references between the nodes of a graph", () => {
    const graph = [
      { "@type": "Article", author: { "@id": "#ann" }, datePublished: "2024-02-03T04:05:06+01:00" },
      { "@type": "Person", "@id": "#ann", name: "Ann Shore" },
    ];
    expect(author(jsonLd({ "@graph": graph }))).toBe("Ann Shore");
    expect(author(jsonLd(graph[0]) + jsonLd(graph[1]))).toBe("Ann Shore");
    expect(
      author(
        jsonLd({ "@type": "NewsArticle", author: [{ name: ["A", "B"] }, { "@id": "#lost" }, "https://x.example/c"] }),
      ),
    ).toBe("A, B");
  });
});

describe("publish date", () => {
  const date = (head: string, body = ""): string | null => extractPage(page(head, body), { url }).metadata.publishDate;

  it.each([
    ["microdata on any element", "", `<span itemprop=datePublished content="2024-02-03">3 Feb</span>`, "2024-02-03"],
    ["microdata as text", "", `<span itemprop="datePublished">3 February 2024</span>`, "2024-02-03"],
    [
      "the marked time before the first one",
      "",
      `<time datetime=2020-01-01></time><time itemprop=datePublished datetime=2024-02-03></time>`,
      "2024-02-03",
    ],
    [
      "not when it was changed",
      "",
      `<time class="updated" datetime=2025-01-01></time><time datetime=2024-02-03></time>`,
      "2024-02-03",
    ],
    [
      "Open Graph before what the body says",
      `<meta property="article:published_time" content="2024-02-03T10:00:00+02:00">`,
      `<time datetime=2020-01-01>`,
      "2024-02-03T08:00:00.000Z",
    ],
    ["what is no date is none", `<meta name=date content="yesterday">`, `<time>soon</time>`, null],
  ])("%s", (_, head, body, expected) => {
    expect(date(head, body)).toBe(expected);
  });
});

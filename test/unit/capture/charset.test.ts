import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeText } from "../../../shared/capture/charset.ts";
import { encodeAs } from "../../sites/legacy-encoding.ts";

const SAMPLES: [string, string][] = [
  ["windows-1252", "Les élèves françaises “aiment” l’été à la plage — déjà près de 5 € l’entrée."],
  ["ISO-8859-2", "Zażółć gęślą jaźń. Příliš žluťoučký kůň úpěl ďábelské ódy."],
  [
    "windows-1251",
    "Россия является крупнейшим государством в мире по площади. Столица страны — Москва, население велико.",
  ],
  ["KOI8-R", "Россия является крупнейшим государством в мире по площади. Столица страны это Москва, население велико."],
  ["ISO-8859-7", "Ξεσκεπάζω την ψυχοφθόρα βδελυγμία του σύγχρονου κόσμου."],
  ["windows-1254", "Pijamalı hasta yağız şoföre çabucak güvendi. İstanbul güzel."],
  ["windows-1255", "דג סקרן שט בים מאוכזב ולפתע מצא חברה נחמדה ושמח מאוד."],
  ["windows-874", "เป็นมนุษย์สุดประเสริฐเลิศคุณค่ากว่าบรรดาฝูงสัตว์เดรัจฉาน"],
  ["Shift_JIS", "いろはにほへと ちりぬるを 我が世誰ぞ 常ならむ 有為の奥山 今日越えて"],
  ["EUC-JP", "いろはにほへと ちりぬるを 我が世誰ぞ 常ならむ 有為の奥山 今日越えて"],
  ["GBK", "我能吞下玻璃而不伤身体。今天的天气很好，我们一起去公园散步吧。"],
  ["Big5", "我能吞下玻璃而不傷身體。今天的天氣很好，我們一起去公園散步吧。"],
  ["EUC-KR", "키스의 고유조건은 입술끼리 만나야 하고 특별한 기술은 필요치 않다."],
  ["UTF-8", "Ünïcödé — 日本語, русский, עברית 😀"],
];

it.each([
  `<meta http-equiv="Content-Type" content="text/html; charset">`,
  `<meta http-equiv="Content-Type" content="text/html; charset=">`,
  `<meta http-equiv="Content-Type" content="text/html; charset = ">`,
])("a declaration that breaks off says nothing: %s", (meta) => {
  const text = `${meta}<p>Ünïcödé — 日本語</p>`;
  expect(decodeText(Buffer.from(text), undefined, "html")).toEqual({ text, charset: "UTF-8" });
});

describe("a declared encoding", () => {
  it.each(SAMPLES)("is taken from the header: %s", (charset, text) => {
    const body = encodeAs(text, charset);
    expect(decodeText(body, charset.toLowerCase(), "html")).toEqual({ text, charset });
  });

  it.each(SAMPLES)("is taken from the meta element: %s", (charset, text) => {
    const markup = `<!doctype html><meta charset="${charset}"><p>`;
    const rest = encodeAs(text, charset);
    const body = Buffer.concat([Buffer.from(markup), rest]);
    expect(decodeText(body, undefined, "html")).toEqual({ text: markup + text, charset });
  });

  it("is taken from http-equiv, and from an XML declaration", () => {
    const equiv = `<meta http-equiv="Content-Type" content="text/html; charset=iso-8859-1"><p>caf\xe9`;
    expect(decodeText(Buffer.from(equiv, "latin1"), undefined, "html").charset).toBe("windows-1252");
    const xml = `<?xml version="1.0" encoding="ISO-8859-5"?><p>\xbc\xd8\xe0`;
    expect(decodeText(Buffer.from(xml, "latin1"), undefined, "xml").text).toContain("Мир");
    expect(decodeText(Buffer.from(xml, "latin1"), undefined, "html").text).toContain("Мир");
  });

  it("goes by byte order mark, then header, then meta", () => {
    const meta = `<meta charset="windows-1251">`;
    const marked = Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(`${meta}é`)]);
    expect(decodeText(marked, "shift_jis", "html")).toEqual({ text: `${meta}é`, charset: "UTF-8" });
    const utf16 = Buffer.from("\ufeffab€", "utf16le");
    expect(decodeText(utf16, "utf-8", "html")).toEqual({ text: "ab€", charset: "UTF-16LE" });
    expect(decodeText(Buffer.from(`${meta}\xe9`, "latin1"), "iso-8859-1", "html").charset).toBe("windows-1252");
  });
});

describe("a declaration that cannot be true", () => {
  it.each(["nonsense", "utf-9", "", "none", "iso-2022-kr", "x-user-defined-9", "utf-32"])(
    "is passed over: %j",
    (label) => {
      expect(decodeText(Buffer.from("<p>naïve"), label, "html")).toEqual({ text: "<p>naïve", charset: "UTF-8" });
      expect(decodeText(Buffer.from(`<meta charset="${label}">naïve`), undefined, "html").text).toContain("naïve");
    },
  );

  it.each(["utf-16", "utf-16le", "utf-16be", "ucs-2"])("UTF-16 over bytes without a NUL: %s", (label) => {
    expect(decodeText(Buffer.from("<p>plain"), label, "html")).toEqual({ text: "<p>plain", charset: "UTF-8" });
  });

  const russian = "Россия является крупнейшим государством в мире по площади. Столица страны — Москва.";

  it.each([
    ["a header, where a meta element knows better", "utf-8", `<meta charset="windows-1251">`],
    ["a meta element, where nothing else is said", undefined, `<meta charset="utf-8">`],
    ["header and meta element", "UTF-8", `<meta charset="utf-8">`],
  ])("UTF-8 over bytes that are none: %s", (_where, label, meta) => {
    const body = Buffer.concat([Buffer.from(meta), encodeAs(`<p>${russian} ${russian}`, "windows-1251")]);
    const { text, charset } = decodeText(body, label, "html");
    expect([charset, text]).toEqual(["windows-1251", `${meta}<p>${russian} ${russian}`]);
  });

  it("a header's Latin-1 over UTF-8 that says so itself", () => {
    for (const label of ["iso-8859-1", "windows-1251"]) {
      const text = `<meta charset="utf-8"><p>${russian}`;
      expect(decodeText(Buffer.from(text), label, "html")).toEqual({ text, charset: "UTF-8" });
      const xml = `<?xml version="1.0" encoding="UTF-8"?><p>${russian}</p>`;
      expect(decodeText(Buffer.from(xml), label, "xml")).toEqual({ text: xml, charset: "UTF-8" });
    }
    expect(decodeText(Buffer.from(`<meta charset="utf-8"><p>plain`), "iso-8859-1", "html").charset).toBe(
      "windows-1252",
    );
    const latin = `<meta charset="utf-8"><p>caf\xe9`;
    expect(decodeText(Buffer.from(latin, "latin1"), "iso-8859-1", "html").text).toContain("café");
  });

  it("keeps UTF-8 that is damaged here and there", () => {
    const text = `${russian} `.repeat(20);
    const body = Buffer.from(text);
    for (let at = 100; at < 1000; at += 90) body[at] = 0xff;
    expect(decodeText(body, "utf-8", "html").charset).toBe("UTF-8");
  });

  it("still decodes what is invalid in the declared encoding, with replacement characters", () => {
    expect(decodeText(Buffer.from([0x61, 0xff, 0x62]), "utf-8", "html").text).toBe("a\ufffdb");
  });
});

describe("a declaration far down", () => {
  const head = `<script>${"x();".repeat(1000)}</script><!-- <meta charset="koi8-r"> -->`;

  it("counts, as it does for a browser that comes to it", () => {
    const markup = `${head}<meta http-equiv="Content-Type" content="text/html; charset=windows-1251"><p>`;
    const body = Buffer.concat([Buffer.from(markup), encodeAs("Мир", "windows-1251")]);
    expect(decodeText(body, undefined, "html")).toEqual({ text: `${markup}Мир`, charset: "windows-1251" });
  });

  it("takes milliseconds for pages that are made to be slow", () => {
    for (const piece of ["<!--", "<meta ", "<meta charset ", "<script>", "<", "<style\xff"]) {
      const before = process.cpuUsage();
      decodeText(Buffer.from(`${piece.repeat(100_000)}\xff`, "latin1"), undefined, "html");
      expect(process.cpuUsage(before).user / 1000, piece).toBeLessThan(500);
    }
  });
});

describe("no declaration", () => {
  it.each([
    ["windows-1251", "Россия является крупнейшим государством в мире по площади."],
    ["windows-1255", "דג סקרן שט בים מאוכזב ולפתע מצא חברה נחמדה ושמח מאוד."],
    ["EUC-KR", "키스의 고유조건은 입술끼리 만나야 하고 특별한 기술은 필요치 않다."],
  ])("is detected in one sentence among much markup: %s", (charset, sentence) => {
    const markup = `<div class="container column wide"><a href="/path/of/the/site">menu</a></div>`.repeat(20);
    const script = `<script>var english = "words that are no words of the page"</script>`;
    const body = encodeAs(`<title>x</title>${script}<p>${sentence}</p>${markup}`, charset);
    expect(decodeText(body, undefined, "html").text).toContain(sentence);
  });

  it("is not mistaken for another in English with a few accents", () => {
    const body = encodeAs(`<p>${"The café has a naïve façade, and its menu is a résumé. ".repeat(3)}`, "windows-1252");
    expect(decodeText(body, undefined, "html")).toMatchObject({ charset: "windows-1252" });
  });

  it("knows ISO-2022-JP by its escapes", () => {
    const body = Buffer.from("<p>\x1b$B$$$m$O\x1b(B</p>", "latin1");
    expect(decodeText(body, undefined, "html")).toEqual({ text: "<p>いろは</p>", charset: "ISO-2022-JP" });
  });

  it.each(SAMPLES.filter(([charset]) => !["ISO-8859-2", "windows-1254", "windows-874"].includes(charset)))(
    "is detected: %s",
    (charset, text) => {
      const long = `<p>${text} ${text} ${text}</p>`;
      const body = charset === "UTF-8" ? Buffer.from(long) : encodeAs(long, charset);
      expect(decodeText(body, undefined, "html").text).toBe(long);
    },
  );

  it("reads UTF-16 and UTF-32 with a byte order mark", () => {
    const text = "Grüße 😀";
    const points = [0xfeff, ...[...text].map((character) => character.codePointAt(0) ?? 0)];
    for (const littleEndian of [true, false]) {
      const utf32 = new DataView(new ArrayBuffer(points.length * 4));
      for (const [index, point] of points.entries()) utf32.setUint32(index * 4, point, littleEndian);
      const utf16 = Buffer.from(`\ufeff${text}`, "utf16le");
      if (!littleEndian) utf16.swap16();
      const suffix = littleEndian ? "LE" : "BE";
      expect(decodeText(new Uint8Array(utf32.buffer), "utf-8", "html")).toEqual({ text, charset: `UTF-32${suffix}` });
      expect(decodeText(utf16, undefined, "html")).toEqual({ text, charset: `UTF-16${suffix}` });
    }
  });

  it.each([undefined, "utf-8", "windows-1252"])("reads UTF-16 without a mark, whatever the label says: %j", (label) => {
    const text = "<title>Plain words, Ā and ż</title><p>in two bytes each";
    const little = Buffer.from(text, "utf16le");
    expect(decodeText(little, label, "html")).toEqual({ text, charset: "UTF-16LE" });
    expect(decodeText(Buffer.from(little).swap16(), label, "html")).toEqual({ text, charset: "UTF-16BE" });
    expect(decodeText(Buffer.from("a few \0 NULs \0 in UTF-8"), label, "html").charset).not.toMatch(/^UTF-16/);
  });

  it("takes UTF-8 that is cut inside a character for UTF-8", () => {
    const cut = Buffer.from(`${"x".repeat(40_000)}é`).subarray(0, 40_001);
    expect(decodeText(cut, undefined, "plain").charset).toBe("UTF-8");
  });
});

it("never throws and always names an encoding that decodes, whatever the bytes and the label", () => {
  const kind = fc.constantFrom("html" as const, "xml" as const, "plain" as const);
  const label = fc.option(fc.oneof(fc.string(), fc.constantFrom("utf-16", "utf-32", "gb18030", "hz-gb-2312")), {
    nil: undefined,
  });
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), label, kind, (body, given, as) => {
      const { text, charset } = decodeText(body, given, as);
      expect(typeof text).toBe("string");
      expect(charset).not.toBe("");
    }),
  );
});

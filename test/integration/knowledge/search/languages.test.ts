import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { search } from "../../../../shared/knowledge/search/search.ts";
import { type TestDatabase, testDatabase } from "../../../services/index.ts";
import { addPages } from "./corpus.ts";

/** By language: a text, and queries in other forms of its words that must find it. */
const TABLE: Record<string, Record<string, string[]>> = {
  en: {
    "The lighthouse keepers were climbing steep stairs.": ["keeper", "climbs", "climbed stair", "lighthouses", "STEEP"],
    "A naïve façade, and a café beside the Zürich theatre": ["naive", "facade", "cafe", "Café", "zurich"],
    "Berries ripened early; studies were published 🍓": ["berry", "ripening", "study", "publishing", "🍓"],
  },
  de: {
    "Die Häuser der alten Städte wurden 1900 gebaut.": ["Haus", "hauser", "Stadt", "städten", "alte"],
    "Straßen und Füße: große Größe": ["strasse", "Straße", "STRASSEN", "fuss", "Größen"],
    "Die Kinder spielten in den Gärten": ["Kind", "spielte", "Garten", "garten", "gärten"],
  },
  fr: {
    "Les élèves étudiaient à l’école préférée des chevaux": ["élève", "eleves", "étudier", "ecole", "préférées"],
    "Nous mangeons des pâtes délicieuses près du château": ["mangeons", "pates", "délicieux", "chateaux", "château"],
  },
  es: {
    "Los niños corrían por las montañas españolas": ["niño", "ninos", "corren", "montaña", "espanol"],
    "Las ciudades tienen bibliotecas antiguas": ["ciudad", "biblioteca", "antiguo", "ciudades", "BIBLIOTECAS"],
  },
  ru: {
    "Красивые города стоят на берегах больших рек": ["красивый", "город", "берег", "большая", "река"],
    "Учёные нашли зелёные камни": ["ученый", "учёные", "зеленый", "камни", "камнях"],
  },
  tr: {
    "İstanbul'daki evlerin kapıları ILIK günlerde açıktır": ["istanbul", "evler", "kapı", "kapilar", "ılık"],
    "Kitapları okuyan öğrenciler çalışıyor": ["kitap", "kitaplar", "öğrenci", "ogrenci", "çalışıyor"],
  },
  el: {
    "Οι όμορφες πόλεις της Ελλάδας έχουν παλιούς δρόμους": ["όμορφη", "πόλη", "ομορφες", "δρόμος", "ΔΡΟΜΟΥΣ"],
  },
  hi: {
    "लड़कियाँ पुस्तकों को पढ़ती हैं और किताबें लिखती हैं": ["लड़की", "पुस्तक", "पुस्तकों", "किताब", "किताबें"],
  },
  ro: {
    "Copiii citeau cărți frumoase în grădinile orașului": ["copii", "carte", "carti", "gradina", "oraș"],
  },
  ar: {
    "الكُتُب الجديدة في المكتبات الكبيرة والمدرسة": ["كتب", "الكتب", "مكتبة", "جديدة", "مدرسه"],
    "إبراهيم قرأ رســالة أحمد": ["ابراهيم", "رسالة", "رساله", "احمد", "أحمد"],
  },
  vi: {
    "Những ngôi trường ở Hà Nội có nhiều học sinh": ["trường", "truong", "Hà Nội", "ha noi", "học sinh"],
  },
  th: {
    ประเทศไทยมีอาหารอร่อยและภูเขาสูง: ["ประเทศไทย", "อาหาร", "อร่อย", "ภูเขา", "สูง"],
  },
  km: {
    ប្រទេសកម្ពុជាមានប្រាសាទអង្គរវត្ត: ["កម្ពុជា", "អង្គរវត្ត"],
  },
  zh: {
    "上海的图书馆收藏了许多古代地图。": ["图书馆", "上海", "地图", "古代地图", "许多古"],
  },
  ja: {
    "東京の図書館で古い地図を見ました。コンピュータも。ﾃﾚﾋﾞ": [
      "図書館",
      "東京",
      "地図",
      "コンピュータ",
      "テレビ",
      "猫も杓子も コンピュ",
    ],
    猫が好き: ["猫"],
  },
  ko: {
    "서울의 도서관에서 책을 읽었다": ["도서관", "서울", "도서관을"],
  },
};

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
  const pages = Object.entries(TABLE).flatMap(([language, texts]) =>
    Object.keys(texts).map((text, at) => ({ url: `https://${language}.example/${at}`, language, chunks: [text] })),
  );
  await addPages(database.sql, pages);
});
afterAll(() => database.drop());

const find = async (query: string) =>
  await search({ sql: database.sql, vectorSide: async () => null }, { query, mode: "keyword", limit: 5 });

describe("forms of words in one corpus of many languages", () => {
  const rows = Object.entries(TABLE).flatMap(([language, texts]) =>
    Object.entries(texts).flatMap(([text, queries]) => queries.map((query) => [language, query, text] as const)),
  );

  test("are a hundred at least, in ten languages", () => {
    expect(rows.length).toBeGreaterThanOrEqual(100);
    expect(Object.keys(TABLE).length).toBeGreaterThanOrEqual(10);
  });

  test.each(rows)("%s: %s", async (_language, query, text) => {
    const [first] = await find(query);
    expect(first?.content).toBe(text);
    expect(first?.highlights.length).toBeGreaterThan(0);
    for (const [start, end] of first?.highlights ?? []) expect(text.slice(start, end).trim()).not.toBe("");
  });

  test("decomposed characters are the composed ones, on both sides", async () => {
    expect((await find("façade".normalize("NFD")))[0]?.content).toContain("façade");
    await addPages(database.sql, [
      { url: "https://nfd.example/", language: "fr", chunks: ["Un goût amer".normalize("NFD")] },
    ]);
    expect((await find("goût"))[0]?.url).toBe("https://nfd.example/");
  });

  test("a query is read in the languages that the filter names, and in no others", async () => {
    const { sql } = database;
    const texts = ["Elle ouvre la porte", "Une œuvre rare"];
    await addPages(
      sql,
      texts.map((text, at) => ({ url: `https://oe.example/${at}`, language: "fr", chunks: [text] })),
    );
    const asked = { mode: "keyword" as const, limit: 5, filter: { languages: ["fr"] } };
    const contents = async (query: string) =>
      (await search({ sql, vectorSide: async () => null }, { query, ...asked })).map(({ content }) => content);
    expect(await contents("œuvre")).toEqual(["Une œuvre rare"]);
    expect(await contents("OEUVRES")).toEqual(["Une œuvre rare"]);
  });

  test.each([
    ["ขึ้นรถไฟฟ้าบีทีเอสไปทำงาน", "รถไฟฟ้าบีทีเอส"],
    ["ขึ้นรถไฟฟ้าบีทีเอสไปทำงาน", "บีทีเอส"],
    ["เขานั่งตากลมอยู่ริมทะเล", "ตากลม"],
    ["เขามีตากลมโตเหมือนแม่", "ตากลม"],
    ["ร้านสตาร์บัคส์สาขาสยามพารากอนเปิดแล้ว", "สยามพารากอน"],
    ["ร้านสตาร์บัคส์สาขาสยามพารากอนเปิดแล้ว", "บัคส์สาขาสยาม"],
  ])("in Thai %s holds the phrase %s, however its words are divided", async (text, phrase) => {
    const url = `https://th.example/${encodeURIComponent(text)}`;
    const { sql } = database;
    await sql`delete from documents where url = ${url}`;
    await addPages(sql, [{ url, language: "th", chunks: [text] }]);
    expect((await find(`"${phrase}"`)).map(({ content }) => content)).toContain(text);
    expect((await find(`"${phrase}" รถ`)).map(({ content }) => content)).toContain(text);
    expect(await find(`"${[...phrase].toReversed().join("")}"`)).toEqual([]);
  });
});

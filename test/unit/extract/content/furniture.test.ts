import { describe, expect, it } from "vitest";
import { extractPage } from "../../../../shared/extract/extract-page.ts";

const extract = (body: string, { title = "The mill", lang = "en", head = "" } = {}): string =>
  extractPage(`<html lang="${lang}"><head><title>${title}</title>${head}</head><body>${body}</body></html>`, {
    url: "https://example.org/news/1",
  }).text;
const p = (topic: string): string =>
  `<p>The ${topic} at the river was repaired by volunteers, over three summers, and works again since Tuesday.</p>`;
const TEXT = ["mill", "lock", "bridge", "weir", "sluice"].map(p);
const H1 = "<h1>The mill works again</h1>";
const NAV = '<nav><a href="/">Home</a> <a href="/news">News</a></nav>';

describe("a notice without a telling name", () => {
  const notice = (text: string, buttons = "<button>OK</button>"): string =>
    `<div class="css-1a2b"><div><p>${text}</p></div><div>${buttons}</div></div>`;
  const OURS = "We and our partners store data on a device, such as identifiers, and read it again later.";

  it("stands before the headline and has buttons", () => {
    const found = extract(`${notice(OURS)}${NAV}<div>${H1}${TEXT.slice(0, 3).join("")}</div>`);
    expect(found).toContain("The bridge at the river");
    expect(found).not.toContain("partners");
  });

  it.each([
    ["de", "Wir verwenden Cookies, um die Nutzung zu messen. Sie können zustimmen oder ablehnen."],
    ["ru", "Мы используем файлы cookie, чтобы улучшить сайт. Продолжая, вы соглашаетесь."],
    ["ja", "当サイトではクッキーを使用しています。利用を続けると、同意したものとみなします。"],
    ["fi", "Käytämme evästeitä, jotta sivusto toimii. Voit muuttaa valintaasi myöhemmin."],
    ["ar", "نستخدم ملفات تعريف الارتباط لتحسين الموقع، ومتابعتك تعني الموافقة."],
  ])("may be longer than a short page, and speaks of cookies: %s", (lang, text) => {
    const page = (around: (shown: string) => string): string =>
      extract(around("<h1>Zu 12</h1><p>Heute zu, ab morgen 8 Uhr.</p>"), { lang, title: "Zu 12" });
    const link = '<a href="#" class="btn">OK</a>';
    expect(page((shown) => `${notice(text)}<div>${shown}</div>`)).toBe("Zu 12\n\nHeute zu, ab morgen 8 Uhr.");
    expect(page((shown) => `<div>${shown}</div>${notice(text, link)}`)).toBe("Zu 12\n\nHeute zu, ab morgen 8 Uhr.");
  });

  it("is none that holds the headline", () => {
    const baking = `<div>${H1}<p>Cookies keep for a week, in a tin, if nobody finds them.</p><button>Print</button></div>`;
    expect(extract(`${NAV}${baking}`)).toContain("Cookies keep for a week");
  });
});

describe("a box to sign in or up", () => {
  const box = (field: string): string =>
    `<div class="css-9"><h3>Join us</h3><p>Forgot it? We send you a link, and you set it anew.</p>
     <form><input name="u"><input ${field}><button>Go</button></form><p>By joining, you agree to our terms.</p></div>`;
  it.each(['type="password"', 'type="email"'])("is no content, with what stands around the fields: %s", (field) => {
    for (const body of [
      `<div><div>${H1}${TEXT[0]}</div>${box(field)}</div>`,
      `<article>${H1}${TEXT[0]}${TEXT[1]}${box(field)}${TEXT[2]}</article>`,
    ]) {
      const found = extract(NAV + body);
      expect(found).toContain("The mill at the river");
      expect(found).not.toMatch(/Join|Forgot|terms/);
    }
  });

  it("may have many panes, if its name speaks against it, too", () => {
    const panes = [1, 2, 3, 4].map(
      (n) =>
        `<div><h3>Step ${n}</h3><p>We email you a link, and you confirm that you have read our policy, and agree to it.</p></div>`,
    );
    const found = extract(
      `<div class="x-auth-modal"><form><input type="password"></form>${panes.join("")}</div><div>${H1}${TEXT.join("")}</div>`,
    );
    expect(found).toContain("The sluice at the river");
    expect(found).not.toMatch(/Step|policy/);
  });

  it("is the content of its own page", () => {
    const found = extract(`${NAV}<main><h1>Sign in</h1><p>Use the number of your card, and the PIN.</p>
      <form><input name="u"><input type="password"></form></main>`);
    expect(found).toContain("Use the number of your card");
  });

  it("is no form to write to somebody", () => {
    const found =
      extract(`<div><h1>Contact</h1></div><div><div><h2>Write to us</h2><p>We answer on weekdays, within two days.</p>
      <form><input type="email"><textarea></textarea></form></div><div><h2>Find us</h2><p>Mill Lane 4, Strand</p></div></div>`);
    expect(found).toContain("We answer on weekdays");
    expect(found).toContain("Mill Lane 4");
  });
});

describe("an offer below a text", () => {
  const offer = (link: string): string =>
    `<div class="c"><h3>Go on</h3><p>Four weeks for one pound, then nine a month.</p>${link}<p>It takes a minute.</p></div>`;
  it.each([
    '<a href="/subscribe">Go</a>',
    '<p>Da? <a href="https://konto.example.org/login?to=1">Anmelden</a></p>',
    '<a href="/spenden">Jetzt</a>',
    '<div><a href="/shop/abo/">Alle Angebote</a></div>',
  ])("is told by where it leads: %s", (link) => {
    const inside = extract(`<article>${H1}${TEXT.slice(0, 4).join("")}${offer(link)}</article>`);
    const amid = extract(`<article>${H1}${TEXT.slice(0, 4).join("")}${offer(link)}${TEXT[4]}</article>`);
    for (const found of [inside, amid]) {
      expect(found).toContain("The weir at the river");
      expect(found).not.toMatch(/pound|minute|Go on/);
    }
    expect(amid).toContain("The sluice at the river");
  });

  it("is no sentence with a link, and no text of its own page", () => {
    const sentence =
      '<div><p>Members can <a href="/login">log in</a> and see the plans of the mill, the lock, the weir, and those of the old bridge.</p></div>';
    expect(extract(`<article>${H1}${TEXT.join("")}${sentence}</article>`)).toContain("Members can log in");
    expect(extract(`${NAV}<div><h1>Help the mill</h1>${offer('<a href="/donate">Give</a>')}</div>`)).toContain(
      "Four weeks",
    );
  });
});

describe("a call to install an app", () => {
  const stores = `<a href="https://apps.apple.com/app/id1">App Store</a> <a href="https://play.google.com/store/apps/details?id=x">Google Play</a>`;
  const textOf = (inner: string): string => extract(`<article>${H1}${TEXT.join("")}${inner}</article>`);

  it.each([
    ["with both stores in a row", `<div><p>Read all of it faster, get the app for your phone.</p>${stores}</div>`],
    [
      "with a line of its own",
      `<div><p>Lies alles schneller, hol dir die App für dein Handy.</p><p>${stores}</p></div>`,
    ],
  ])("goes, in any language: %s", (_, box) => expect(textOf(box)).toMatch(/works again since Tuesday\.$/));

  it("is no sentence on an app", () => {
    const sentence = `<p>The app of the festival, which ${stores} have had since May, shows the way, and costs nothing.</p>`;
    expect(textOf(sentence)).toContain("shows the way");
  });
});

describe("comments without telling names", () => {
  const comment = (name: string): string =>
    `<div class="x"><b>${name}</b> <time>12:04</time><p>I was there on Tuesday, and the bread was great, thank you ${name}.</p><button>↩</button></div>`;
  const thread = ["Ada", "Ben", "Cay"].map(comment).join("");
  it("are what a field to write one stands below", () => {
    const found = extract(
      `<div><article>${H1}${TEXT.join("")}</article><section><h2>3</h2>${thread}<form><textarea></textarea></form></section></div>`,
    );
    expect(found).toContain("The sluice at the river");
    expect(found).not.toContain("bread");
  });

  it("are the content of a thread", () => {
    const found = extract(
      `<div>${NAV}<div><h1>Bread at the mill</h1></div><section>${thread}<form><textarea></textarea></form></section></div>`,
      { title: "Bread at the mill" },
    );
    expect(found).toContain("thank you Cay");
  });
});

it("dates below the last paragraph are none", () => {
  const found = extract(`<article>${H1}${TEXT.join("")}<p>Published 3 May 2024, updated 4 May 2024</p></article>`);
  expect(found).not.toContain("2024");
});

describe("a box about the author", () => {
  const box = (href: string, name: string): string =>
    `<div class="c"><img src="/me.jpg" alt=""><h4>About ${name}</h4>
     <p>${name} has written about rivers for twenty years, lives in Strand and keeps bees.</p><a ${href}>All texts</a></div>`;
  it.each(['href="/author/ada"', 'href="/x" rel="author"', 'href="/autoren/ada/"'])(
    "below the text is no part of it: %s",
    (link) => {
      const found = extract(`<article>${H1}${TEXT.join("")}${box(link, "Ada")}</article>`);
      expect(found).toContain("The sluice at the river");
      expect(found).not.toContain("bees");
    },
  );

  it("is the content of a page of authors", () => {
    const found = extract(
      `<main>${H1}${p("team")}${p("desk")}${p("house")}${["Ada", "Ben", "Cay"].map((name) => box(`href="/author/${name}"`, name)).join("")}</main>`,
    );
    expect(found).toContain("Cay has written about rivers");
  });
});

describe("see also, in any language,", () => {
  const amid = (inserted: string): string =>
    extract(`<article>${H1}${TEXT[0]}${TEXT[1]}${inserted}${TEXT[2]}${TEXT[3]}</article>`);
  const plain = amid("");
  it.each([
    '<p><strong>Läs också:</strong> <a href="/2">A mill in another valley burned down last night</a></p>',
    '<p>Lue myös: <a href="/2">A mill in another valley burned down last night</a></p>',
    '<p><b>Čtěte také</b> <a href="/2">A mill in another valley burned down last night</a></p>',
    '<h3>See also</h3><ul><li><a href="/2">Another mill burned down</a></li><li><a href="/3">Bread is dear</a></li></ul>',
  ])("is a label and a link to another page of the site: %s", (inserted) => {
    expect(amid(inserted)).toBe(plain);
  });

  it.each([
    '<p><strong>Programme:</strong> <a href="/files/summer.pdf">The programme of the summer as a file</a></p>',
    '<p><b>Source:</b> <a href="https://museum.example/mills">The museum of mills, its yearly report</a></p>',
    '<p>The lock is older: <a href="/2">it was built by monks, in the years of the plague, of oak</a>, and held.</p>',
  ])("is no file, no other site and no sentence: %s", (inserted) => {
    expect(amid(inserted)).not.toBe(plain);
  });
});

describe("around facts that are no prose", () => {
  it.each(["table", "ul"])("a footer is none of them: %s", (name) => {
    const [row, cell] = name === "table" ? ["tr", "td"] : ["li", "span"];
    const rows = ["Monday 8–12", "Tuesday 8–12 and 14–18", "Wednesday closed", "Thursday 8–16"];
    const list = rows.map((text) => `<${row}><${cell}>${text}</${cell}></${row}>`).join("");
    const found =
      extract(`${NAV}<div><h1>Opening hours</h1><${name}>${list}</${name}><address>Mill Lane 4</address></div>
      <footer><p>© Mill Ltd, registered in Strand, all rights reserved.</p></footer>`);
    expect(found).toContain("Wednesday closed");
    expect(found).toContain("Mill Lane 4");
    expect(found).not.toContain("rights");
  });

  it("a footer that holds them is the content", () => {
    const found = extract(
      `<h1>Mill</h1><footer><p>Mill Lane 4, Strand</p><p>Open daily, from nine to five.</p></footer>`,
    );
    expect(found).toContain("Open daily");
  });

  it("related products are none of them", () => {
    const cards = [1, 2, 3].map(
      (n) => `<div><a href="/p${n}"><h3>Kettle model ${n}</h3></a><span>€ ${n}9</span></div>`,
    );
    const found =
      extract(`${NAV}<div><h1>Steel kettle</h1><p>€ 39.90</p><ul><li>Steel, brushed</li><li>Two years of warranty</li></ul></div>
      <section class="related-products"><h2>You may like</h2>${cards.join("")}</section>`);
    expect(found).toContain("Two years of warranty");
    expect(found).not.toMatch(/model|may like/);
  });

  it("a column of links beside the text is no cell of a table", () => {
    const found = extract(
      `<table><tr><td><a href="/a">Home</a><br><a href="/b">Links</a></td><td>${TEXT.join("")}</td></tr></table>`,
    );
    expect(found).toContain("The sluice");
    expect(found).not.toContain("Links");
  });
});

describe("after the last paragraph", () => {
  it("a section of several short lines is kept whole", () => {
    const found = extract(
      `<div>${H1}${TEXT.join("")}<section><h2>Contact</h2><p>Mill Lane 4, Strand</p><p>Mon–Fri 7–16</p></section></div>`,
    );
    expect(found).toMatch(/Contact\s+Mill Lane 4, Strand\s+Mon–Fri 7–16$/);
  });

  it("a heading keeps the bare text below it", () => {
    const found = extract(`<div>${H1}${TEXT.join("")}<div><h4>Per slice</h4><span>Energy 110 kcal</span></div></div>`);
    expect(found).toMatch(/Per slice\s+Energy 110 kcal$/);
  });
});

it("a character of Chinese, Japanese and Korean counts for two letters: a short text is a text", () => {
  const found = extract(
    `<div><div><h1>転入届の手続き</h1><p>引っ越しをした日から十四日以内に、窓口で届け出てください。</p>
     <p>本人確認書類と転出証明書をお持ちください。代理人の場合は委任状が必要です。</p>
     <p>手続きには三十分ほどかかります。</p></div>
     <div><ul><li><a href="/a">くらし</a></li><li><a href="/b">観光</a></li></ul></div></div>`,
    { lang: "ja", title: "転入届の手続き" },
  );
  expect(found).toContain("窓口で届け出てください");
  expect(found).not.toContain("観光");
});

describe("sentences of scripts that end them with marks of their own, or with a space,", () => {
  it.each([
    ["th", "สำนักงานเปิดตั้งแต่แปดโมงเช้า ถึงห้าโมงเย็น กรุณานำบัตรประชาชนมาด้วย"],
    ["lo", "ຫ້ອງການເປີດແຕ່ແປດໂມງເຊົ້າ ຫາຫ້າໂມງແລງ ກະລຸນານຳບັດປະຈຳຕົວມາພ້ອມ"],
    ["my", "ရုံးကို နံနက်ရှစ်နာရီမှ ညနေငါးနာရီအထိ ဖွင့်သည်။ မှတ်ပုံတင်ယူလာပါ။"],
    ["am", "ቢሮው ከጠዋቱ ሁለት ሰዓት እስከ ምሽቱ አሥራ አንድ ሰዓት ክፍት ነው። መታወቂያ ይዘው ይምጡ።"],
    ["hy", "Գրասենյակը բաց է առավոտյան ութից մինչև երեկոյան հինգը։ Խնդրում ենք վերցնել անձնագիրը։"],
    ["ur", "دفتر صبح آٹھ بجے سے شام پانچ بجے تک کھلا رہتا ہے۔ شناختی کارڈ ساتھ لائیں۔"],
  ])("are prose: %s", (lang, sentence) => {
    const text = Array.from({ length: 5 }, () => `<p>${sentence}</p>`).join("");
    const links = [1, 2, 3].map((n) => `<div><a href="/${n}">Elsewhere ${n}</a></div>`).join("");
    const found = extract(`<div><h1>12</h1>${text}</div><div>${links}</div>`, { lang });
    expect(found).toContain(sentence);
    expect(found).not.toContain("Elsewhere");
  });
});

describe("what unfolds", () => {
  it("may be an answer of a few words below a question that is a button", () => {
    const item = (question: string, answer: string): string =>
      `<div><div role="button" tabindex="0">${question}</div><div style="display:none">${answer}</div></div>`;
    const found = extract(
      `<main><h1>Questions</h1>${item("Is the mill open on Sundays?", "Yes.")}${item("May we bring a dog?", "No, alas.")}</main>`,
    );
    expect(found).toMatch(/Yes\.[\s\S]*No, alas\./);
  });

  it.each(['role="tabpanel"', 'class="tab-pane"'])("may be facts in a panel beside one that is shown: %s", (panel) => {
    const found = extract(
      `<main>${H1}${TEXT[0]}<div><div ${panel}>${TEXT[1]}</div><div ${panel} hidden><table><tr><th>Wheel</th><td>4 m</td></tr></table></div>
       <div ${panel} hidden><p>Entry costs five pounds.</p></div></div></main>`,
    );
    expect(found).toContain("Wheel | 4 m");
    expect(found).toContain("Entry costs five pounds.");
  });

  it("is no menu", () => {
    const found =
      extract(`<div><div role="button" aria-expanded="false">All our services</div><div hidden><a href="/1">Mills</a> <a href="/2">Locks</a></div></div>
      <main>${H1}${TEXT.join("")}</main>`);
    expect(found).not.toContain("Locks");
  });
});

/** What is read of uploaded files, among them those that Word made, and what becomes of hostile ones. */
import { readFile as bytesOf } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { constants, deflateRawSync, deflateSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { readUpload } from "../../../shared/library/read-upload.ts";
import { pdfFile, pdfOf } from "../../services/pdf-file.ts";
import { zipFile } from "../archive/zip-file.ts";

const BOUNDS = { timeoutMs: 60_000, memoryMb: 256 };
const ofMammoth = join(dirname(createRequire(import.meta.url).resolve("mammoth/package.json")), "test", "test-data");
const read = async (content: Uint8Array, filename = "a.bin", bounds = BOUNDS) =>
  await readUpload({ content, filename }, "upload://x/", bounds);

const DOCX_HEAD = {
  "[Content_Types].xml":
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">' +
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>' +
    '<Override PartName="/word/document.xml" ContentType=' +
    '"application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>',
  "_rels/.rels":
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r" ' +
    'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" ' +
    'Target="word/document.xml"/>' +
    "</Relationships>",
};
const docx = (body: string): Buffer =>
  zipFile(
    Object.entries({
      ...DOCX_HEAD,
      "word/document.xml":
        '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">' +
        `<w:body>${body}</w:body></w:document>`,
    }).map(([name, bytes]) => ({ name, bytes, deflated: true })),
  );

test.each([
  ["single-paragraph.docx", "Walking on imported air", "Walking on imported air"],
  ["simple-list.docx", "Apple", "- Banana"],
  ["tables.docx", "Top left", "| Bottom left | Bottom right |"],
  ["footnotes.docx", "Ouch", "A tachyon walks into a bar."],
  ["text-box.docx", "Datum plane", "Datum plane"],
  ["utf8-bom.docx", "byte order mark", "byte order mark"],
  ["strict-format.docx", "Test", "Test"],
])("a file of Word's: %s", async (name, text, markdown) => {
  const found = await read(await bytesOf(join(ofMammoth, name)), name);
  expect(found).toMatchObject({ title: name, text: expect.stringContaining(text) });
  expect(found.markdown).toContain(markdown);
});

test("headings of a DOCX are its sections, the first its title", async () => {
  const heading = (level: number, text: string) =>
    `<w:p><w:pPr><w:pStyle w:val="Heading${level}"/></w:pPr><w:r><w:t>${text}</w:t></w:r></w:p>`;
  const paragraph = (text: string) => `<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`;
  const found = await read(docx(heading(1, "Tides") + paragraph("They turn.") + heading(2, "Ebb") + paragraph("Low.")));
  expect(found.title).toBe("Tides");
  expect(found.sections.map(({ heading, level }) => [heading, level])).toEqual([
    ["Tides", 1],
    ["Ebb", 2],
  ]);
});

test("a PDF's pages are its sections", async () => {
  const found = await read(pdfFile([["The tide turns."], [], ["Shells."]], { title: "Tides" }));
  expect(found).toMatchObject({ title: "Tides", text: expect.stringContaining("The tide turns.") });
  expect(found.sections.map(({ heading }) => heading)).toEqual(["Page 1", "Page 3"]);
});

test.each([
  ["UTF-8", Buffer.from("\uFEFFThe tide — turns.")],
  ["UTF-16, little end first", Buffer.from("\uFEFFThe tide — turns.", "utf16le")],
  ["UTF-16, big end first", Buffer.from("\uFEFFThe tide — turns.", "utf16le").swap16()],
])("a text in %s", async (_, bytes) => {
  expect((await read(bytes, "a.txt")).text).toBe("The tide — turns.");
});

test("a PDF of 2,000 pages, the most that are read", async () => {
  const found = await read(pdfFile(Array.from({ length: 2_000 }, (_, at) => [`Page of tide ${at + 1}.`])));
  expect(found.sections).toHaveLength(2_000);
  expect(found.sections.at(-1)).toMatchObject({ heading: "Page 2000" });
});

test("a DOCX with thousands of parts, and with a bomb that nobody opens in it", async () => {
  const document =
    '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:r>' +
    "<w:t>The tide turns.</w:t></w:r></w:p></w:body></w:document>";
  const parts = Object.entries({ ...DOCX_HEAD, "word/document.xml": document }).map(([name, bytes]) => ({
    name,
    bytes,
  }));
  const bomb = zipFile([{ name: "zeros", bytes: Buffer.alloc(20_000_000), deflated: true }]);
  const many = Array.from({ length: 10_000 }, (_, at) => ({ name: `word/media/${at}`, bytes: "" }));
  for (const more of [many, [{ name: "word/embeddings/bomb.zip", bytes: bomb, deflated: true }]]) {
    expect((await read(zipFile([...parts, ...more]))).text).toBe("The tide turns.");
  }
});

const lockedPdf = (): Buffer => {
  const secret = `<${"5a".repeat(32)}>`;
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Kids [] /Count 0 >>",
    `<< /Filter /Standard /V 1 /R 2 /Length 40 /O ${secret} /U ${secret} /P -44 >>`,
  ];
  return pdfOf(objects, "/Root 1 0 R /Encrypt 3 0 R /ID [<00112233445566778899aabbccddeeff> <00>]");
};
const compound = (stream: string): Buffer =>
  Buffer.concat([Buffer.from("d0cf11e0a1b11ae1", "hex"), Buffer.alloc(504), Buffer.from(stream, "utf16le")]);

describe("what is not read says why", () => {
  test.each([
    ["a PDF with a password", lockedPdf, "ENCRYPTED"],
    ["a PDF without text", () => pdfFile([[]]), "NO_TEXT"],
    ["a PDF that is none", () => Buffer.from("%PDF-1.7 and nothing else"), "UNREADABLE"],
    ["a PDF of too many pages", () => pdfFile(Array.from({ length: 2_001 }, () => ["A page."])), "FILE_TOO_LARGE"],
    ["a DOCX with a password", () => compound("EncryptedPackage"), "ENCRYPTED"],
    ["a file of an older Word", () => compound("WordDocument"), "UNSUPPORTED_TYPE"],
    ["a DOCX without text", () => docx("<w:p/>"), "NO_TEXT"],
    ["a DOCX whose XML is broken", () => docx("<w:p>"), "UNREADABLE"],
    ["a ZIP file that is no DOCX", () => zipFile([{ name: "a.txt", bytes: "A tide." }]), "UNSUPPORTED_TYPE"],
    ["a DOCX that is cut off", () => docx("<w:p/>").subarray(0, -60), "UNREADABLE"],
    ["a picture", () => Buffer.from("89504e470d0a1a0a0000", "hex"), "UNSUPPORTED_TYPE"],
  ])("%s", async (_, bytes, code) => {
    await expect(read(bytes())).rejects.toMatchObject({ code });
  });

  test("a DOCX that unpacks to more than there is room for", async () => {
    const bomb = docx(`<w:p><w:r><w:t>${"tide ".repeat(80_000_000)}</w:t></w:r></w:p>`);
    expect(bomb.length).toBeLessThan(3_000_000);
    const before = process.memoryUsage.rss();
    await expect(read(bomb)).rejects.toMatchObject({ code: "FILE_TOO_LARGE" });
    expect(process.memoryUsage.rss() - before).toBeLessThan(1_500_000_000);
  });

  const GROWTH = 1_500_000_000;
  const refusedWithin = async (bytes: Buffer, code: string, bounds = BOUNDS) => {
    const before = process.memoryUsage.rss();
    await expect(read(bytes, "a.bin", bounds)).rejects.toMatchObject({ code });
    expect(process.memoryUsage.rss() - before).toBeLessThan(GROWTH);
  };

  /** Deflated zeros of 4 GB, in 4 MB. */
  const endless = (): Buffer => {
    const part = deflateRawSync(Buffer.alloc(1 << 20), { finishFlush: constants.Z_FULL_FLUSH });
    return Buffer.concat([...Array.from({ length: 4_000 }, () => part), deflateRawSync("")]);
  };

  test.each([4_000 * 2 ** 20, 100])("a DOCX with a part of 4 GB, of which it says %i bytes", async (bytes) => {
    const part = { name: "word/document.xml", bytes: endless(), claims: { method: 8, bytes } };
    const head = Object.entries(DOCX_HEAD).map(([name, text]) => ({ name, bytes: text }));
    await refusedWithin(zipFile([...head, part]), "FILE_TOO_LARGE");
  });

  test("a PDF whose page unpacks to far more than it is long, and takes for ever", async () => {
    const packed = deflateSync(Buffer.from("BT (tide) Tj ET\n".repeat(5_000_000))).toString("latin1");
    const objects = [
      "<< /Type /Catalog /Pages 2 0 R >>",
      "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
      "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R >>",
      `<< /Length ${packed.length} /Filter /FlateDecode >>\nstream\n${packed}\nendstream`,
    ];
    await refusedWithin(pdfOf(objects, "/Root 1 0 R"), "FILE_TOO_LARGE", { ...BOUNDS, timeoutMs: 10_000 });
  });

  test("a PDF that is cut off in the middle has no text, or what is left of it", async () => {
    const whole = pdfFile(Array.from({ length: 5 }, (_, at) => [`The tide turns on page ${at + 1}.`]));
    for (const share of [0.05, 0.9]) {
      const found = await read(whole.subarray(0, Math.floor(whole.length * share))).catch((error: unknown) => error);
      if (found instanceof Error)
        expect(found).toMatchObject({ code: expect.stringMatching(/^(UNREADABLE|NO_TEXT)$/) });
      else expect(found).toMatchObject({ text: expect.stringContaining("The tide turns on page 1.") });
    }
  });

  test("a file that takes too long", async () => {
    await expect(read(docx("<w:p/>"), "a.docx", { ...BOUNDS, timeoutMs: 1 })).rejects.toMatchObject({
      code: "FILE_TOO_LARGE",
    });
  });
});

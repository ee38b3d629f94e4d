import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { api } from "../../../../functions/documents-api/handler.ts";
import { uuidv7 } from "../../../../shared/platform/ids.ts";
import { callApi } from "../../../services/api.ts";
import { type ApiSetup, setUpApi } from "../api-setup.ts";

let setup: ApiSetup;
beforeAll(async () => {
  setup = await setUpApi();
});
afterAll(() => setup.close());

const call = (method: string, path: string, json?: unknown) =>
  callApi(api, { method, path: `/api/v1${path}`, key: setup.keys.write, ...(json === undefined ? {} : { json }) });
const upload = async (content: string, more: object = {}) =>
  (await call("POST", "/documents", { content, ...more })).body as { document_id: string };
const collection = async (name: string): Promise<string> => (await call("POST", "/collections", { name })).body.id;

const text = (word: string) => `The ${word} stands by the harbour, and everybody who lives there knows it well.`;

describe("a batch of which items fail the schema", () => {
  it("stores the others, and says for each what is wrong with it", async () => {
    const broken = [
      [{ content: 5 }, "documents[0].content"],
      [{ content: text("moroni"), surprise: 1 }, "documents[1].surprise"],
      ["no object", "documents[2]"],
      [{ title: "Nothing to read" }, "documents[3]"],
      [{ content: "a\0b" }, "documents[4].content"],
      [{ content: text("moroni"), tags: [""] }, "documents[5].tags[0]"],
      [{ content_base64: "no base64!" }, "documents[6].content_base64"],
      [null, "documents[7]"],
    ] as const;
    const { status, body } = await call("POST", "/documents/batch", {
      documents: [...broken.map(([item]) => item), { content: text("moroni"), url: "https://isles.example/moroni" }],
    });
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body).toMatchObject({ stored: 1, failed: broken.length });
    for (const [at, [, path]] of broken.entries()) {
      expect(body.items[at], path).toMatchObject({ outcome: "failed", status: 400, code: "VALIDATION_ERROR" });
      expect(body.items[at].details.faults[0]).toMatchObject({ in: "body", path });
    }
    expect((await call("GET", "/documents?count=true")).body.total).toBe(1);
    expect(body.items.at(-1)).toMatchObject({ outcome: "created", url: "https://isles.example/moroni" });
  });

  it("has its place among 50, and nothing is stored where all fail", async () => {
    const documents = Array.from({ length: 50 }, (_, at) =>
      at === 17 ? { content: "" } : { content: text(`mikindani${at}`), url: `https://fifty.example/${at}` },
    );
    const { body } = await call("POST", "/documents/batch", { documents });
    expect(body).toMatchObject({ stored: 49, failed: 1 });
    expect(body.items[17]).toMatchObject({ code: "VALIDATION_ERROR" });
    expect(body.items[18]).toMatchObject({ url: "https://fifty.example/18" });
    const all = await call("POST", "/documents/batch", { documents: [{}, { content: "" }] });
    expect(all).toMatchObject({ status: 200, body: { stored: 0, failed: 2 } });
    expect((await call("POST", "/documents/batch", { documents: [] })).status).toBe(400);
    expect((await call("POST", "/documents/batch", { documents: [...documents, {}] })).status).toBe(400);
    expect((await call("GET", "/documents?domain=fifty.example&count=true")).body.total).toBe(49);
  });

  it.each([
    ["a host of 8,000 characters", { url: `upload://${createHash("sha512").update("h").digest("hex").repeat(60)}/` }],
    ["10,000 quotations in one another", { content: `${">".repeat(10_000)} ${text("deep")}` }],
    ["10,000 elements in one another", { content: `<!doctype html>${"<div>".repeat(10_000)}<p>${text("deep")}` }],
    ["10,000 lists in one another", { content: `${"- ".repeat(10_000)}${text("deep")}` }],
    [
      "10,000 emphases in one another",
      { content: `# A\n\n${"*a ".repeat(5_000)}${text("deep")}${" a*".repeat(5_000)}` },
    ],
  ])("stands %s", async (what, item) => {
    const documents = [
      { content: text("lamu"), url: "https://extremes.example/a" },
      { content: text("lamu"), ...item },
      { content: text("lamu"), url: "https://extremes.example/b" },
    ];
    const { status, body } = await call("POST", "/documents/batch", { documents });
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body.items[0].document_id, what).toBeDefined();
    expect(body.items[2].document_id, what).toBeDefined();
    expect(body.items[1].document_id, JSON.stringify(body.items[1])).toBeDefined();
  });
});

describe("documents that are changed in bulk", () => {
  it.each([
    ["/documents/delete", {}],
    ["/documents/tags", { add: ["bulk"] }],
    ["/collections/COLLECTION/documents", {}],
    ["/collections/COLLECTION/documents/remove", {}],
  ])("%s takes ids that are none for themselves", async (path, more) => {
    const id = await collection(`bulk ${path}`);
    const { document_id } = await upload(`${text("pate")} ${path}`, { collection_id: id });
    const unknown = uuidv7();
    const to = path.includes("remove") || !path.startsWith("/coll") ? id : await collection(`bulk to ${path}`);
    const { status, body } = await call("POST", path.replace("COLLECTION", to), {
      document_ids: ["no id", document_id.toUpperCase(), unknown, document_id, "", "no id"],
      ...more,
    });
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body.changed).toEqual([document_id]);
    expect(body.failed.map((each: { document_id: string; code: string }) => [each.document_id, each.code])).toEqual([
      [unknown, "NOT_FOUND"],
      ["no id", "VALIDATION_ERROR"],
      ["", "VALIDATION_ERROR"],
    ]);
  });
});

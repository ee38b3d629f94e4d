import { Marked, type Token, type Tokens } from "marked";
import { afterAll, beforeAll, expect, it } from "vitest";
import { api } from "../../../../functions/documents-api/handler.ts";
import { callApi } from "../../../services/api.ts";
import { type ApiSetup, setUpApi } from "../api-setup.ts";

let setup: ApiSetup;
beforeAll(async () => {
  setup = await setUpApi();
});
afterAll(() => setup.close());

const HOST = "docs.example";
const HOSTILE = "Ends](https://evil.example)\n\n# Not a heading\n- [x](https://evil.example) <b>bold</b> `a` *b*";

const put = (path: string, content: string, title: string, description?: string) =>
  callApi(api, {
    ...{ method: "POST", path: "/api/v1/documents", key: setup.keys.write },
    json: { url: `https://${HOST}${path}`, content, title, metadata: description ? { description } : {} },
  });

async function parts(query: string): Promise<string[]> {
  const texts: string[] = [];
  for (let cursor = ""; ; ) {
    const path = `/api/v1/documents/llms?domain=${HOST}&${query}${cursor && `&cursor=${cursor}`}`;
    const { status, body } = await callApi(api, { path, key: setup.keys.read });
    expect(status, JSON.stringify(body)).toBe(200);
    texts.push(body.text);
    if (body.next_cursor === null) return texts;
    cursor = body.next_cursor;
  }
}

const marked = new Marked();
const tokensOf = (text: string): Token[] => marked.lexer(text).filter(({ type }) => type !== "space");

it("lists the pages of a site by folder, as llmstxt.org has it, and in parts the same", async () => {
  await put("/", "Welcome to the harbour and its tides, day after day.", "The harbour", "All about the harbour");
  await put("/about", "About the harbour, and who keeps it in order.", "About");
  await put("/guide/tides", "High water comes twice a day to the harbour.", "Tides", "When the water\ncomes");
  await put("/guide/boats_(old)", "Boats wait in the harbour until the water is there.", "Boats");
  await put("/news/a", "The lighthouse shines again over the harbour.", HOSTILE, HOSTILE);

  const [text = "", ...more] = await parts("limit=100");
  expect(more).toEqual([]);
  const tokens = tokensOf(text);
  expect(tokens.map(({ type }) => type)).toEqual([
    "heading",
    "blockquote",
    ...["heading", "list"],
    ...["heading", "list"],
    ...["heading", "list"],
  ]);
  const headings = tokens.filter((each): each is Tokens.Heading => each.type === "heading");
  expect(headings.map(({ depth, text: heading }) => [depth, heading])).toEqual([
    [1, "The harbour"],
    [2, "Pages"],
    [2, "guide"],
    [2, "news"],
  ]);
  expect(text).toContain("> All about the harbour\n");
  expect(text).toContain("- [Tides](https://docs.example/guide/tides): When the water comes\n");
  expect(text).toContain("- [Boats](https://docs.example/guide/boats_%28old%29)\n");
  const html = await marked.parse(text);
  expect(html.match(/href="[^"]*"/g)?.filter((href) => href.includes("evil"))).toEqual([]);
  expect(html).not.toContain("<b>");
  expect(html).not.toContain("<em>");
  expect((await parts("limit=1")).join("")).toBe(text);
  expect((await parts("limit=2")).join("")).toBe(text);
});

it("has the texts in llms-full.txt, below the headings of their pages", async () => {
  const content =
    "# Deep\n\nWater is deep in the harbour.\n\n## Deeper\n\n```\n# no heading\n```\n\nIt is deeper out at sea.";
  await put("/deep/one", content, "Deep");
  const [text = ""] = await parts("full=true");
  const headings = tokensOf(text).filter((each): each is Tokens.Heading => each.type === "heading");
  expect(headings.filter(({ depth }) => depth === 1)).toHaveLength(1);
  expect(headings.filter(({ depth }) => depth === 2).map((each) => each.text)).toEqual([
    ...["Pages", "deep", "guide", "news"],
  ]);
  expect(text).toContain("### [Deep](https://docs.example/deep/one)\n");
  expect(text).toContain("\n##### Deeper\n");
  expect(text).toContain("\n# no heading\n");
  expect((await parts("full=true&limit=1")).join("")).toBe(text);
});

it("has nothing of other hosts, and refuses what it does not know", async () => {
  const { body } = await callApi(api, { path: "/api/v1/documents/llms?domain=none.example", key: setup.keys.read });
  expect(body).toMatchObject({ pages: 0, next_cursor: null, has_more: false });
  const refused = await callApi(api, { path: "/api/v1/documents/llms", key: setup.keys.read });
  expect(refused).toMatchObject({ status: 400, body: { code: "VALIDATION_ERROR" } });
});

it("has both documents of one URL that two collections have, and refuses what is no cursor of it", async () => {
  for (const name of ["east", "west"]) {
    const made = await callApi(api, {
      method: "POST",
      path: "/api/v1/collections",
      key: setup.keys.write,
      json: { name },
    });
    const json = { url: "https://twice.example/page", content: `The same page, kept in the ${name}.`, title: name };
    const key = setup.keys.write;
    await callApi(api, {
      method: "POST",
      path: "/api/v1/documents",
      key,
      json: { ...json, collection_id: made.body.id },
    });
  }
  const ask = (cursor: string) =>
    callApi(api, { path: `/api/v1/documents/llms?domain=twice.example&limit=1${cursor}`, key: setup.keys.read });
  const first = await ask("");
  const second = await ask(`&cursor=${first.body.next_cursor}`);
  expect(first.body.text + second.body.text).toMatch(/\[(east|west)\][^[]*\[(?!\1)(east|west)\]/);
  expect(second.body.next_cursor).toBeNull();
  for (const forged of ["https://twice.example/page", "x y", `${"0".repeat(8)}-0000-0000-0000-${"0".repeat(12)} \0`]) {
    expect((await ask(`&cursor=${Buffer.from(forged).toString("base64url")}`)).status).toBe(400);
  }
});

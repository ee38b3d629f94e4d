/** The pages of the API's reference, made of the committed document. */
import { load } from "cheerio";
import { describe, expect, it } from "vitest";
import { api } from "../../../../functions/docs-api/handler.ts";
import type { ApiDocument } from "../../../../shared/reference/document.ts";
import { operationsOf } from "../../../../shared/reference/document.ts";
import { html } from "../../../../shared/reference/markup.ts";
import { operationPage } from "../../../../shared/reference/operation-page.ts";
import { sampleOf } from "../../../../shared/reference/sample.ts";
import { callApi } from "../../../services/api.ts";
import { compiled, readDocument } from "../../../services/documented-answers.ts";

const document = readDocument() as unknown as ApiDocument;
const places = operationsOf(document);
const ids = places.map(({ operation }) => operation.operationId);
const site = { document, consolePath: "console/" };

describe("the page of an operation", () => {
  it.each(places)("$operation.operationId names all that it takes, and leads nowhere that is not", ({ operation }) => {
    const $ = load(operationPage(site, operation.operationId) ?? "");
    const targets = $("[id]").map((_, each) => $(each).attr("id") ?? "");
    expect(new Set(targets.get()).size).toBe(targets.length);
    for (const link of $("a").get()) {
      const href = $(link).attr("href") ?? "";
      if (href.startsWith("#")) expect($(`[id="${href.slice(1)}"]`).length, href).toBe(1);
      else if (href.startsWith("./")) expect(ids).toContain(href.slice(2));
      else expect(["../docs", "../openapi.json", "../console/"]).toContain(href);
    }
    const text = $("main").text();
    for (const { name } of operation.parameters ?? []) expect(text).toContain(name);
    for (const status of Object.keys(operation.responses)) if (status !== "default") expect(text).toContain(status);
    // what the policy of the page would refuse
    expect($("script:not([src]), style, [style]").length).toBe(0);
  });

  const withBody = places.filter(({ operation }) => operation.requestBody !== undefined);
  it.each(withBody)("$operation.operationId begins with a body that the document allows", ({ operation }) => {
    const schema = operation.requestBody?.content["application/json"]?.schema ?? {};
    const sample = sampleOf(schema, document.components.schemas);
    const validate = compiled(schema as Record<string, unknown>);
    expect({ sample, faults: validate(sample) ? [] : validate.errors }).toEqual({ sample, faults: [] });
  });

  it("is absent where there is no such operation", async () => {
    const answer = await callApi(api, { path: "/docs/noSuchOperation" });
    expect(answer).toMatchObject({ status: 404, body: { code: "NOT_FOUND" } });
  });
});

it("escapes what is put into a template", () => {
  expect(html`<p title="${`"'<`}">${["<script>", "&"]}</p>`.html).toBe(
    '<p title="&quot;&#39;&lt;">&lt;script&gt;&amp;</p>',
  );
});

it("lists every operation", async () => {
  const { status, body, headers } = await callApi(api, { path: "/docs" });
  expect(status).toBe(200);
  expect(headers["content-security-policy"]).not.toContain("unsafe");
  const $ = load(body);
  const hrefs = $(".operations a").map((_, each) => $(each).attr("href") ?? "");
  expect(hrefs.get().toSorted()).toEqual(ids.map((id) => `./docs/${id}`).toSorted());
});

/** As API Gateway asks for it, below its stage. */
async function asked(path: string, { whole = `/live${path}`, accept = "*/*" } = {}) {
  const headers = { host: "api.example", accept };
  const event = { httpMethod: "GET", path, headers, requestContext: { path: whole } };
  const { statusCode, headers: head, body } = await api.handler(event as never, {} as never);
  return { status: statusCode, headers: head, body };
}

it.each([
  ["/docs/", "../docs"],
  ["/docs/search/", "../search"],
  ["/docs/reference.css//", "../reference.css"],
  ["/openapi.json/", "../openapi.json"],
])("leads from %s to the address that links are relative to", async (path, location) => {
  const { status, headers } = await asked(path);
  expect(status).toBe(308);
  expect(headers).toMatchObject({ location, "content-security-policy": expect.any(String) });
});

it.each([
  ["/live", "./live/docs"],
  ["/live/", "./docs"],
])("leads on from the root of a stage that is asked for as %s", async (whole, link) => {
  const page = await asked("/", { whole, accept: "text/html" });
  expect(load(page.body)(`main a[href="${link}"]`).length).toBe(1);
  const { body } = await asked("/", { whole });
  expect(JSON.parse(body).links.docs).toBe("http://api.example/live/docs");
});

it("gives the document with the address under which it was asked for, and says when it is still the same", async () => {
  const { status, body, headers } = await callApi(api, { path: "/openapi.json" });
  expect(status).toBe(200);
  const { servers, ...rest } = body as ApiDocument;
  expect(servers).toEqual([{ url: expect.stringMatching(/^http:\/\/[^/]+$/) }]);
  const { servers: _, ...committed } = document;
  expect(rest).toEqual(committed);
  const again = { "if-none-match": `"other", ${headers["etag"]}` };
  expect(await callApi(api, { path: "/openapi.json", headers: again })).toMatchObject({ status: 304 });
  expect((await callApi(api, { path: "/docs/crawlSite", headers: again })).status).toBe(200);
});

it("says what it is, to browsers and to others", async () => {
  const { body } = await callApi(api, { path: "/", headers: { accept: "application/json" } });
  expect(body).toMatchObject({ name: "Strandline", version: document.info.version });
  expect(Object.keys(body.links)).toEqual(["docs", "openapi", "health"]);
  const page = await callApi(api, { path: "/", headers: { accept: "text/html,*/*;q=0.8" } });
  expect(page.headers["content-type"]).toContain("text/html");
  expect(load(page.body)("main a").length).toBe(3);
});

it.each(["colours.css", "reference.css", "reference.js"])("serves %s", async (file) => {
  const { status, headers } = await callApi(api, { path: `/docs/${file}` });
  expect(status).toBe(200);
  expect(headers["content-type"]).toMatch(/^text\/(css|javascript)/);
});

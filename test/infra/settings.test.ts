import { App } from "aws-cdk-lib";
import { expect, test } from "vitest";
import { defaultEmbedder, readSettings } from "../../infra/settings.ts";

const settings = (context: Record<string, unknown>) => readSettings(new App({ context, analyticsReporting: false }));

test("nothing has to be chosen", () => {
  expect(settings({})).toMatchObject({ name: "strandline", databaseMaxAcu: 4 });
});

test.each([
  [{}, "none"],
  [{ qdrantUrl: "http://qdrant:6333" }, "static"],
  [{ qdrantUrl: "http://qdrant:6333", teiUrl: "http://tei:80" }, "tei"],
])("texts become vectors where there is a place for them: %j", (context, embedder) => {
  expect(defaultEmbedder(settings(context))).toBe(embedder);
});

test("values of the command line are text, and win over those of cdk.json", () => {
  expect(settings({ strandline: { databaseMaxAcu: 2, name: "one" }, databaseMaxAcu: "8" })).toMatchObject({
    name: "one",
    databaseMaxAcu: 8,
  });
});

test.each([
  [{ strandline: { databaseMaxAcus: 8 } }, /databaseMaxAcus/],
  [{ name: "Not A Name" }, /name/],
  [{ qdrantUrl: "ftp://x", teiUrl: "http://tei:80" }, /qdrantUrl/],
  [{ teiUrl: "http://tei:80" }, /teiUrl needs qdrantUrl/],
  [{ alarmEmail: "nobody" }, /alarmEmail/],
])("%j stops the synthesis with the setting's name", (context, message) => {
  expect(() => settings(context)).toThrow(message);
});

import { App } from "aws-cdk-lib";
import { expect, test } from "vitest";
import { readSettings } from "../../infra/settings.ts";

const settings = (context: Record<string, unknown>) => readSettings(new App({ context, analyticsReporting: false }));

test("nothing has to be chosen", () => {
  expect(settings({})).toMatchObject({ name: "strandline", databaseMaxAcu: 4 });
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
  [{ teiUrl: "http://tei:80" }, /belong together/],
  [{ alarmEmail: "nobody" }, /alarmEmail/],
])("%j stops the synthesis with the setting's name", (context, message) => {
  expect(() => settings(context)).toThrow(message);
});

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { configurationTable, withConfigurationTable } from "../../../checks/configuration-table.ts";
import { CONFIG_FIELDS } from "../../../shared/platform/config.ts";

const ROOT = join(import.meta.dirname, "../../..");

test("the guide's configuration table is that of the code (if not: npx node checks/configuration-table.ts --write)", async () => {
  const page = await readFile(join(ROOT, "docs/guide/configuration.md"), "utf8");
  expect(page).toBe(withConfigurationTable(page, configurationTable(Object.values(CONFIG_FIELDS))));
});

test("the README names no setting that there is not", async () => {
  const readme = await readFile(join(ROOT, "README.md"), "utf8");
  const known = new Set<string>(Object.values(CONFIG_FIELDS).map(({ env }) => env));
  const named = [...new Set(readme.match(/\b[A-Z][A-Z0-9_]*__[A-Z0-9_]+\b/g))];
  expect(named).toContain("ACCESS__ALLOW_HOSTS");
  expect(named.filter((name) => !known.has(name))).toEqual([]);
});

test("a setting's row shows its choices and its default, and keeps Markdown's own characters literal", () => {
  const settings = [
    { env: "A__MODE", schema: z.enum(["on", "off"]).default("off"), about: "Whether a|b" },
    { env: "A__LIST", schema: z.string().default(""), about: "Hosts or *.suffix" },
  ];
  expect(configurationTable(settings).split("\n").slice(2)).toEqual([
    "| `A__MODE` | `off` | `variables` | `on`, `off`: Whether a\\|b |",
    "| `A__LIST` |  | `variables` | Hosts or \\*.suffix |",
  ]);
});

test("the table is not written into a text without its markers", () => {
  expect(() => withConfigurationTable("# Title\n", "| table |")).toThrow("lacks the lines");
});

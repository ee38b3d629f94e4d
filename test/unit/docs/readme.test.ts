import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { configurationTable, withConfigurationTable } from "../../../checks/configuration-table.ts";
import { CONFIG_FIELDS } from "../../../shared/platform/config.ts";

const README = join(import.meta.dirname, "../../../README.md");

test("the README's configuration table is that of the code (if not: npx node checks/configuration-table.ts --write)", async () => {
  const readme = await readFile(README, "utf8");
  expect(readme).toBe(withConfigurationTable(readme, configurationTable(Object.values(CONFIG_FIELDS))));
});

test("a setting's row shows its choices and its default, and keeps Markdown's own characters literal", () => {
  const settings = [
    { env: "A__MODE", schema: z.enum(["on", "off"]).default("off"), about: "Whether a|b" },
    { env: "A__LIST", schema: z.string().default(""), about: "Hosts or *.suffix" },
  ];
  expect(configurationTable(settings).split("\n").slice(2)).toEqual([
    "| `A__MODE` | `off` | `on`, `off`: Whether a\\|b |",
    "| `A__LIST` |  | Hosts or \\*.suffix |",
  ]);
});

test("the table is not written into a text without its markers", () => {
  expect(() => withConfigurationTable("# Title\n", "| table |")).toThrow("lacks the lines");
});

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { takeHome, UnusableHome } from "../../../local/home.ts";

test.each(["taken", "taken/below"])(
  "a state folder that cannot be made (%s) is told with what to set",
  async (name) => {
    const folder = await mkdtemp(join(tmpdir(), "strandline-home-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    await writeFile(join(folder, "taken"), "a file");
    const take = () => takeHome(join(folder, name));
    expect(take).toThrow(UnusableHome);
    expect(take).toThrow(`The state folder ${join(folder, name)} cannot be used: `);
    expect(take).toThrow("STRANDLINE_HOME");
  },
);

import { mkdir, mkdtemp, rm, stat, symlink, writeFile } from "node:fs/promises";
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

test("a state folder that others could look into is closed to them, with all that lies in it and comes later", async () => {
  const folder = await mkdtemp(join(tmpdir(), "strandline-home-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const mask = process.umask(0o022);
  onTestFinished(() => void process.umask(mask));
  const home = join(folder, "home");
  await mkdir(join(home, "aws", "objects"), { recursive: true, mode: 0o755 });
  await writeFile(join(home, "aws", "objects", "page.data"), "page", { mode: 0o644 });
  await writeFile(join(home, "run.sh"), "", { mode: 0o755 });
  await writeFile(join(folder, "elsewhere"), "", { mode: 0o644 });
  await symlink(join(folder, "elsewhere"), join(home, "link"));
  takeHome(home).release();
  await writeFile(join(home, "later"), "");
  const modes = await Promise.all(
    ["", "aws", "aws/objects", "aws/objects/page.data", "run.sh", "lock", "later", "../elsewhere"].map(
      async (name) => [name, ((await stat(join(home, name))).mode & 0o777).toString(8)] as const,
    ),
  );
  expect(Object.fromEntries(modes)).toEqual({
    "": "700",
    aws: "700",
    "aws/objects": "700",
    "aws/objects/page.data": "600",
    "run.sh": "700",
    lock: "600",
    later: "600",
    "../elsewhere": "644",
  });
});

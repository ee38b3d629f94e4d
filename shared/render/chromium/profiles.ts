/**
 * Where browsers keep their profiles while they run. Chromium puts a socket below, and the name of a socket has 107
 * bytes at the most, so a long folder for temporary files is passed over for a shorter one.
 */
import { mkdir, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { uuidv7 } from "../../platform/ids.ts";
import { ownerOf } from "./own-folder.ts";

/** What is left of 107 bytes beside `/org.chromium.Chromium.scoped_dir.XXXXXX/SingletonSocket`. */
const LONGEST_PROFILE = 107 - 56;
const OTHER_PLACES = ["/tmp", "/var/tmp", "/dev/shm"];

/**
 * Makes the folder of one browser, and removes those of processes that are gone, as after a kill.
 * @throws Error that says of each place why it is not there
 */
export async function newProfile(): Promise<string> {
  const refusals: string[] = [];
  for (const place of new Set([tmpdir(), ...OTHER_PLACES])) {
    // of one user of the machine: nobody may write into another's
    const folder = join(place, `strandline-profiles-${process.getuid?.() ?? 0}`);
    const profile = join(folder, `${process.pid}-${uuidv7().slice(-6)}`);
    const refusal = Buffer.byteLength(profile) > LONGEST_PROFILE ? "its name is too long" : await made(folder, profile);
    if (refusal === null) return profile;
    refusals.push(`${place} (${refusal})`);
  }
  throw new Error(`there is no folder for its profile; tried ${refusals.join(", ")}`);
}

/** @returns why not, or null */
async function made(folder: string, profile: string): Promise<string | null> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    if ((await ownerOf(folder)) !== "us") return `${folder} belongs to somebody else`;
    await removeLeftovers(folder);
    await mkdir(profile, { mode: 0o700 });
    return null;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
  }
}

async function removeLeftovers(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const pid = Number.parseInt(name, 10);
    if (Number.isNaN(pid) || isRunning(pid)) continue;
    await rm(join(folder, name), { recursive: true, force: true }).catch(() => undefined);
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

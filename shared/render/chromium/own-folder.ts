/** Folders between those of other users of the machine: what somebody else has put there is not used. */
import { lstat } from "node:fs/promises";

/** Whose a folder is: ours where nobody else may write into it. */
export async function ownerOf(folder: string): Promise<"us" | "somebody else" | "nobody"> {
  const found = await lstat(folder).catch(() => undefined);
  if (found === undefined) return "nobody";
  const isOurs = found.isDirectory() && found.uid === (process.getuid?.() ?? 0) && (found.mode & 0o022) === 0;
  return isOurs ? "us" : "somebody else";
}

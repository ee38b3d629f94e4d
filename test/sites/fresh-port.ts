/**
 * Ports for test sites. A runtime that several test files share remembers hosts by their ports: their robots.txt, their
 * pace, their pages. So no two sites of a run may have the same port.
 */
import { writeFile } from "node:fs/promises";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";

/** Names the folder that holds a file for each port that a site of this run has had; unset: any free port will do. */
export const USED_PORTS = "TEST_SITES_USED_PORTS";

/**
 * Listens on 127.0.0.1.
 * @returns the port
 */
export async function listenOnFreshPort(server: Server): Promise<number> {
  for (;;) {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    if (await isFresh(port)) return port;
    await new Promise((resolve) => server.close(resolve));
  }
}

async function isFresh(port: number): Promise<boolean> {
  const folder = process.env[USED_PORTS];
  if (folder === undefined) return true;
  try {
    await writeFile(join(folder, String(port)), "", { flag: "wx" });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

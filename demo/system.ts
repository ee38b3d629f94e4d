/** The local runtime and the site's server, started together, since the one must allow the other's address. */
import type { Terminal } from "../cli/terminal.ts";
import { TOPOLOGY } from "../infra/topology.ts";
import { AlreadyRunning, UnusableHome } from "../local/home.ts";
import { type Runtime, startRuntime } from "../local/runtime.ts";
import { DemoError } from "./demo-error.ts";
import { type SiteServer, startSiteServer } from "./site-server.ts";

export interface System extends AsyncDisposable {
  runtime: Runtime;
  site: SiteServer;
}

const API_PORT = 8787;
/** The same each time where it is free, so that the second demonstration is a recrawl of the same site. */
const SITE_PORT = 8788;

/**
 * @throws AlreadyRunning or UnusableHome where the state folder is in use or no use, DemoError with what to do about it
 * otherwise
 */
export async function startSystem(terminal: Terminal, home: string): Promise<System> {
  const sitePort = portFrom("DEMO_SITE_PORT") ?? SITE_PORT;
  const site = await onFreePort(sitePort, (port) => startSiteServer({ port }));
  try {
    const allowed = [process.env["ACCESS__ALLOW_HOSTS"], site.host].filter(Boolean).join(",");
    const env = { ...process.env, ACCESS__ALLOW_HOSTS: allowed };
    const start = (port: number) =>
      startRuntime({ topology: TOPOLOGY, home, port, env, show: (line) => terminal.line(`  ${line}`) });
    const wanted = portFrom("PORT");
    const runtime = wanted === undefined ? await onFreePort(API_PORT, start) : await start(wanted);
    return {
      runtime,
      site,
      async [Symbol.asyncDispose]() {
        await Promise.all([runtime.stop(), site.close()]);
      },
    };
  } catch (error) {
    await site.close();
    throw describeStartFault(error);
  }
}

function describeStartFault(error: unknown): unknown {
  if (error instanceof AlreadyRunning || error instanceof UnusableHome || error instanceof DemoError) return error;
  if (isPortTaken(error)) {
    const hint = "Set PORT to another one, or leave it unset: then a free one is found";
    return new DemoError(`Port ${process.env["PORT"]} is in use by another program`, hint, { cause: error });
  }
  const message = error instanceof Error ? error.message : String(error);
  const hint = "Correct the setting it names; if it names none, please report this as a fault of Strandline";
  return new DemoError(`Strandline did not start: ${message}`, hint, { cause: error });
}

/** Starts on the preferred port, or on any free one where that is taken. */
async function onFreePort<Started>(preferred: number, start: (port: number) => Promise<Started>): Promise<Started> {
  try {
    return await start(preferred);
  } catch (error) {
    if (isPortTaken(error)) return await start(0);
    throw error;
  }
}

const isPortTaken = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "EADDRINUSE";

function portFrom(name: string): number | undefined {
  const text = process.env[name];
  if (text === undefined || text === "") return undefined;
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new DemoError(
    `${name} is "${text}", which is no port`,
    "Set it to a number from 0 to 65535, or leave it unset",
  );
}

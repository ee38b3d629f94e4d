/**
 * Chromium as a process: it is spoken to through a pipe and not through a port, so nobody else on the machine can, and
 * it ends when the pipe does, that is with us, however we end.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import type { Readable, Writable } from "node:stream";
import type { ConnectionTransport } from "puppeteer-core";
import type { ChromiumBinary } from "./binary.ts";
import { type ChromiumSettings, chromiumArguments } from "./flags.ts";
import { newProfile } from "./profiles.ts";

export interface ChromiumProcess {
  readonly pid: number;
  readonly transport: ConnectionTransport;
  /** Why it ended, with its last words, once it has. */
  readonly ended: Promise<string>;
  /** The end of what it has complained about so far. */
  readonly lastWords: string;
  readonly isAlive: boolean;
  /** Kills it with all its processes, and removes its folder. */
  kill(): Promise<void>;
}

/** A single message of the browser, in bytes: a page that makes more of it is no page. */
const LARGEST_MESSAGE = 96 * 1024 * 1024;
const STDERR_TAIL = 2000;

/** Starts Chromium with a pipe to speak through. */
export async function spawnChromium(
  { executable, env }: ChromiumBinary,
  settings: Omit<ChromiumSettings, "profile">,
): Promise<ChromiumProcess> {
  const profile = await newProfile();
  const child = spawn(executable, chromiumArguments({ ...settings, profile }), {
    // a group of its own, to be killed as one
    detached: true,
    stdio: ["ignore", "ignore", "pipe", "pipe", "pipe"],
    env: { ...neededEnvironment(), HOME: profile, TMPDIR: profile, ...env },
  });
  let tail = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    tail = (tail + text).slice(-STDERR_TAIL);
  });
  const ended = new Promise<string>((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("close", (code, signal) =>
      resolve(`${signal ?? `exit code ${code}`}${tail === "" ? "" : `: ${tail.trim()}`}`),
    );
  });
  let isRecorded = false;
  const killGroup = (): void => {
    // its number may be another group's by now
    if (isRecorded || child.pid === undefined) return;
    try {
      process.kill(-child.pid, "SIGKILL");
    } catch {
      // nobody is left in the group
    }
  };
  void ended.then(() => {
    killGroup();
    isRecorded = true;
  });
  const transport = pipeTransport(child, killGroup);
  if (child.pid === undefined) {
    await rm(profile, { recursive: true, force: true });
    throw new Error(await ended);
  }
  child.unref();
  return {
    pid: child.pid,
    transport,
    ended,
    get lastWords() {
      return tail.trim();
    },
    get isAlive() {
      return child.exitCode === null && child.signalCode === null;
    },
    async kill() {
      child.ref();
      killGroup();
      if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
      transport.close();
      await rm(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** No credentials, no endpoints: nothing of what the function knows. */
function neededEnvironment(): Record<string, string> {
  const kept = ["PATH", "LANG", "LC_ALL", "TZ", "FONTCONFIG_PATH", "LD_LIBRARY_PATH"];
  return Object.fromEntries(
    kept.flatMap((name) => (process.env[name] === undefined ? [] : ([[name, process.env[name]]] as const))),
  ) as Record<string, string>;
}

/** `--remote-debugging-pipe`: JSON messages that end in NUL, to file descriptor 3 and from 4. */
function pipeTransport(child: ChildProcess, kill: () => void): ConnectionTransport {
  const [, , , toBrowser, fromBrowser] = child.stdio as unknown as [null, null, null, Writable, Readable];
  let pieces: Buffer[] = [];
  let size = 0;
  let closed = false;
  const transport: ConnectionTransport = {
    send(message) {
      if (!closed) toBrowser.write(`${message}\0`);
    },
    close() {
      if (closed) return;
      closed = true;
      toBrowser.destroy();
      fromBrowser.destroy();
      transport.onclose?.();
    },
  };
  /** For what no browser says. */
  const fail = (): void => {
    pieces = [];
    kill();
    transport.close();
  };
  const take = (piece: Buffer): void => {
    pieces.push(piece);
    size += piece.length;
    if (size > LARGEST_MESSAGE) fail();
  };
  fromBrowser.on("data", (chunk: Buffer) => {
    let start = 0;
    for (let end = chunk.indexOf(0); end >= 0 && !closed; end = chunk.indexOf(0, start)) {
      take(chunk.subarray(start, end));
      const message = Buffer.concat(pieces).toString("utf8");
      [pieces, size, start] = [[], 0, end + 1];
      if (closed) continue;
      if (message.startsWith("{")) transport.onmessage?.(message);
      else fail();
    }
    if (start < chunk.length && !closed) take(chunk.subarray(start));
  });
  fromBrowser.once("close", () => transport.close());
  for (const stream of [toBrowser, fromBrowser]) stream.on("error", () => transport.close());
  return transport;
}

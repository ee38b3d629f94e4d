/** Takes what an engine leaves to the bucket, as it appears, and reports of it until all is there. */
import { createReadStream } from "node:fs";
import { glob, open, readFile, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { createLogReader, type LogReader } from "../../shared/archive/engines/log-reader.ts";
import { logKey, type RunOrder, type RunReport, reportKey, stateKey } from "../../shared/archive/engines/run-files.ts";
import type { OpenObjectWriter } from "../../shared/platform/aws/multipart.ts";
import type { ObjectStore } from "../../shared/platform/aws/objects.ts";
import { type Run, readOrder } from "./prepare-run.ts";

export interface UploadDependencies {
  objects: ObjectStore;
  openWriter: OpenObjectWriter;
  log(message: string, more?: Record<string, unknown>): void;
}

export interface UploadOptions extends Run {
  everyMs: number;
}

/** A WARC file that was not written for as long is taken; where it grows all the same, it is taken again. */
const SETTLED_MS = 60_000;
/** Without a sign of life of what runs the engine: it went with its container. */
const DEAD_MS = 60_000;
const PATIENCE_MS = 300_000;
const READ_BYTES = 1024 * 1024;
const WARC_FILES = "build/collections/*/archive/*.warc.gz";

interface Found {
  path: string;
  bytes: number;
  writtenMs: number;
}

/** Ends once the engine has gone and all is uploaded. What S3 refuses for minutes is thrown. */
export async function uploadRun(dependencies: UploadDependencies, { prefix, output, everyMs }: UploadOptions) {
  const order = await readOrder(dependencies.objects, prefix);
  const upload = new Upload(dependencies, order, { prefix, output });
  for (let failing: number | undefined; ; await setTimeout(everyMs)) {
    try {
      if (await upload.round()) return;
      failing = undefined;
    } catch (error) {
      // the engine goes on meanwhile
      failing ??= Date.now();
      dependencies.log("a round of the upload failed", { error: String(error) });
      if (Date.now() - failing > PATIENCE_MS) throw error;
    }
  }
}

class Upload {
  readonly #dependencies: UploadDependencies;
  readonly #order: RunOrder;
  readonly #run: Run;
  readonly #began = Date.now();
  readonly #log: LogReader = createLogReader();
  #logRead = 0;
  /** By path: what was taken of it. */
  readonly #taken = new Map<string, Found & { key: string }>();

  constructor(dependencies: UploadDependencies, order: RunOrder, run: Run) {
    this.#dependencies = dependencies;
    this.#order = order;
    this.#run = run;
  }

  /** @returns whether all is done */
  async round(): Promise<boolean> {
    const { prefix } = this.#run;
    // before the files: what is written afterwards has an engine that runs
    const exitCode = await this.#exitCode();
    const over = exitCode !== null || (await this.#isDead());
    await this.#readLog();
    await this.#takeAll(WARC_FILES, this.#order.warcs, over);
    await this.#takeNewestState();
    if (over) {
      await this.#takeAll("*.zim", this.#order.zims, true);
      await this.#takeFile(join(this.#run.output, ".run", "log"), logKey(prefix), true);
    }
    await this.#report({ exitCode, done: over });
    return over;
  }

  /** null while it runs. */
  async #exitCode(): Promise<number | null> {
    const text = await textOf(join(this.#run.output, ".run", "exit-code"));
    return text !== undefined && /^\d{1,3}$/.test(text) ? Number(text) : null;
  }

  async #isDead(): Promise<boolean> {
    const beat = await foundAt(join(this.#run.output, ".run", "heartbeat"));
    return Date.now() - (beat?.writtenMs ?? this.#began) > DEAD_MS;
  }

  async #readLog(): Promise<void> {
    const path = join(this.#run.output, ".run", "log");
    if ((await foundAt(path)) === undefined) return;
    const file = await open(path);
    try {
      for (const buffer = Buffer.alloc(READ_BYTES); ; ) {
        const { bytesRead } = await file.read(buffer, 0, READ_BYTES, this.#logRead);
        if (bytesRead === 0) return;
        this.#logRead += bytesRead;
        this.#log.push(buffer.subarray(0, bytesRead));
      }
    } finally {
      await file.close();
    }
  }

  /** @param whole the files are written no more */
  async #takeAll(pattern: string, below: string, whole: boolean): Promise<void> {
    for await (const name of glob(pattern, { cwd: this.#run.output })) {
      await this.#takeFile(join(this.#run.output, name), below + keyName(name), whole);
    }
  }

  async #takeFile(path: string, key: string, whole: boolean): Promise<void> {
    const found = await foundAt(path);
    if (found === undefined || found.bytes === 0) return;
    if (this.#hasTaken(found)) return;
    if (!whole && Date.now() - found.writtenMs < SETTLED_MS) return;
    const writer = await this.#dependencies.openWriter(key, "application/octet-stream");
    try {
      for await (const bytes of createReadStream(path, { end: found.bytes - 1 })) await writer.write(bytes);
      await writer.complete();
    } catch (error) {
      await writer.abort();
      throw error;
    }
    this.#taken.set(path, { ...found, key });
    this.#dependencies.log("a file was uploaded", { key, bytes: found.bytes });
  }

  /**
   * A run goes on from the newest: what it says was crawled is not crawled again. So the WARC files go first, as far as
   * they are written, or a machine that goes would take those pages with it.
   */
  async #takeNewestState(): Promise<void> {
    const newest = await this.#newestState();
    if (newest === undefined || this.#hasTaken(newest)) return;
    await this.#takeAll(WARC_FILES, this.#order.warcs, true);
    const still = await foundAt(newest.path);
    // one that was written meanwhile is taken in the next round
    if (still?.writtenMs === newest.writtenMs) await this.#takeFile(newest.path, stateKey(this.#run.prefix), true);
  }

  async #newestState(): Promise<Found | undefined> {
    let newest: Found | undefined;
    for await (const name of glob("build/collections/*/crawls/*.yaml", { cwd: this.#run.output })) {
      const found = await foundAt(join(this.#run.output, name));
      if (found !== undefined && found.writtenMs >= (newest?.writtenMs ?? 0)) newest = found;
    }
    return newest;
  }

  #hasTaken({ path, bytes, writtenMs }: Found): boolean {
    const taken = this.#taken.get(path);
    return taken?.bytes === bytes && taken.writtenMs === writtenMs;
  }

  async #report({ exitCode, done }: Pick<RunReport, "exitCode" | "done">): Promise<void> {
    const { prefix, output } = this.#run;
    const files = [...this.#taken.values()].map(({ key, bytes }) => ({ key, bytes }));
    const report: RunReport = {
      writtenAt: new Date().toISOString(),
      log: this.#log.summary(),
      warcs: files.filter(({ key }) => key.startsWith(this.#order.warcs)),
      zim: files.find(({ key }) => key.endsWith(".zim"))?.key ?? null,
      state: files.find(({ key }) => key === stateKey(prefix))?.key ?? null,
      partial: await isPartial(join(output, ".run", "progress.json")),
      exitCode,
      interrupted: (await foundAt(join(output, ".run", "interrupted"))) !== undefined,
      done,
    };
    await this.#dependencies.objects.put(reportKey(prefix), Buffer.from(JSON.stringify(report)), "application/json");
  }
}

/** Of collections too: two may have files of one name. */
const keyName = (path: string): string => {
  const collection = /^build\/collections\/([^/]+)\//.exec(path)?.[1];
  return collection === undefined ? basename(path) : `${collection}-${basename(path)}`;
};

async function foundAt(path: string): Promise<Found | undefined> {
  try {
    const { size, mtimeMs } = await stat(path);
    return { path, bytes: size, writtenMs: mtimeMs };
  } catch {
    return undefined;
  }
}

const textOf = (path: string): Promise<string | undefined> => readFile(path, "utf8").catch(() => undefined);

async function isPartial(path: string): Promise<boolean> {
  try {
    return (JSON.parse((await textOf(path)) ?? "") as { partialZim?: unknown }).partialZim === true;
  } catch {
    return false;
  }
}

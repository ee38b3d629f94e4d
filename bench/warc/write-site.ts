/**
 * A WARC file of a made-up site, the same at every run, with what web sites have of each kind: pages that share their
 * frame and differ in their text, pictures, scripts and styles, redirects, missing pages, pages that came again.
 */
import { open } from "node:fs/promises";
import { labelledDigest } from "../../shared/capture/digest.ts";
import { newRecordId, requestRecord, responseRecord, revisitRecord } from "../../shared/capture/warc-record.ts";
import { pseudoWord, seededRandom } from "../zipf-corpus.ts";

/** Of the exchanges; the sizes give shares of the bytes as crawls of whole sites have them. */
const KINDS = [
  ["page", 0.42],
  ["picture", 0.33],
  ["script", 0.13],
  ["redirect", 0.05],
  ["missing", 0.03],
  ["revisit", 0.04],
] as const;
const VOCABULARY = 40_000;
const PAGE_WORDS = 1_200;
const PICTURE_BYTES = 30_000;
const SCRIPT_WORDS = 8_000;
const START = Date.UTC(2026, 0, 1);

type Random = () => number;
interface Answer {
  path: string;
  status: string;
  headers: [string, string][];
  body: Buffer;
}

/** @returns how many records there are */
export async function writeSite(file: string, bytes: number): Promise<number> {
  const handle = await open(file, "w");
  const site = new GeneratedSite();
  let [written, records] = [0, 0];
  try {
    while (written < bytes) {
      const members = await site.exchange(records);
      const joined = Buffer.concat(members);
      await handle.write(joined);
      written += joined.length;
      records += members.length;
    }
  } finally {
    await handle.close();
  }
  return records;
}

class GeneratedSite {
  readonly #random: Random = seededRandom(42);
  readonly #words = Array.from({ length: VOCABULARY }, (_, rank) => pseudoWord(rank).slice(0, -1));
  readonly #noise = noiseOf(this.#random);
  /** Pages that may come again. */
  readonly #earlier: { path: string; recordId: string; date: number; digest: string }[] = [];

  /** @returns the records of a request and what answered it */
  async exchange(serial: number): Promise<Buffer[]> {
    const kind = this.#kind();
    const date = START + serial * 250;
    const [recordId, concurrentTo] = [newRecordId(), newRecordId()];
    const again = kind === "revisit" ? this.#earlier[Math.floor(this.#random() * this.#earlier.length)] : undefined;
    const answer = this.#answer(again === undefined && kind === "revisit" ? "page" : kind, serial);
    const path = again?.path ?? answer.path;
    const url = `https://site.example${path}`;
    const request = await requestRecord(
      { startLine: `GET ${path} HTTP/1.1`, headers: REQUEST_HEADERS, body: Buffer.alloc(0) },
      { url, date, recordId: concurrentTo },
    );
    const message = { startLine: `HTTP/1.1 ${answer.status}`, headers: answer.headers, body: answer.body };
    const options = { url, date, recordId, concurrentTo };
    if (again !== undefined) {
      const of = {
        profile: "identical-payload-digest" as const,
        url,
        date: new Date(again.date).toISOString(),
        recordId: again.recordId,
        payloadDigest: again.digest,
      };
      return [request, await revisitRecord({ ...message, body: Buffer.alloc(0) }, of, options)];
    }
    const digest = labelledDigest(answer.body);
    if (kind === "page" && this.#earlier.length < 1_000) this.#earlier.push({ path, recordId, date, digest });
    return [request, await responseRecord(message, digest, options)];
  }

  #kind(): (typeof KINDS)[number][0] {
    let left = this.#random();
    for (const [kind, share] of KINDS) {
      left -= share;
      if (left < 0) return kind;
    }
    return "page";
  }

  #answer(kind: (typeof KINDS)[number][0], serial: number): Answer {
    const type = (value: string): [string, string] => ["Content-Type", value];
    const common: [string, string][] = [
      ["Server", "nginx"],
      ["Cache-Control", "max-age=600"],
      ["ETag", `"${serial.toString(16)}"`],
    ];
    const ok = (path: string, mime: string, body: Buffer): Answer => ({
      path,
      status: "200 OK",
      headers: [type(mime), ...common],
      body,
    });
    if (kind === "picture") return ok(`/media/${serial}.jpg`, "image/jpeg", this.#picture());
    if (kind === "script") return ok(`/assets/${serial}.js`, "text/javascript", Buffer.from(this.#script()));
    if (kind === "redirect") {
      const headers: [string, string][] = [type("text/html"), ["Location", `/articles/${serial}`], ...common];
      return { path: `/go/${serial}`, status: "301 Moved Permanently", headers, body: Buffer.alloc(0) };
    }
    if (kind === "missing") {
      const body = Buffer.from("<title>Not found</title><h1>Not found</h1>");
      return { path: `/gone/${serial}`, status: "404 Not Found", headers: [type("text/html"), ...common], body };
    }
    return ok(`/articles/${serial}`, "text/html; charset=utf-8", Buffer.from(this.#page(serial)));
  }

  #page(serial: number): string {
    const title = this.#text(6);
    const links = Array.from(
      { length: 40 },
      (_, at) => `<li class="menu-item"><a href="/section/${at}">${this.#words[at * 7]}</a></li>`,
    ).join("\n");
    const paragraphs = Array.from({ length: 4 + Math.floor(this.#random() * 10) }, (_, at) => {
      const text = `<p>${this.#text(this.#size(PAGE_WORDS / 9))}. <a href="/articles/${serial + at}">${this.#text(3)}</a></p>`;
      return at % 3 === 0 ? `<h2>${this.#text(4)}</h2>\n${text}` : text;
    }).join("\n");
    return (
      `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title>` +
      `<meta name="description" content="${this.#text(20)}"><link rel="stylesheet" href="/assets/main.css"></head>` +
      `<body><header><nav><ul>${links}</ul></nav></header><main><article><h1>${title}</h1>${paragraphs}</article></main>` +
      `<footer><p>${FOOTER}</p></footer></body></html>`
    );
  }

  #script(): string {
    const statements = Array.from({ length: this.#size(SCRIPT_WORDS / 8) }, () => {
      const [name, of, key] = [this.#word(), this.#word(), this.#word()];
      return `function ${name}(${of}){return this.${key}(${of},${Math.floor(this.#random() * 1e4)})}`;
    });
    return statements.join("\n");
  }

  /** Around the mean, most below it and few far above, as files are. */
  #size(mean: number): number {
    return Math.max(1, Math.round(-mean * Math.log(1 - this.#random())));
  }

  /** Compresses no further. */
  #picture(): Buffer {
    const at = Math.floor(this.#random() * NOISE_BYTES);
    return this.#noise.subarray(at, at + this.#size(PICTURE_BYTES));
  }

  /** Frequent ones first, as in a language. */
  #word(): string {
    return this.#words[Math.floor(this.#random() ** 4 * VOCABULARY)] ?? "";
  }

  #text(words: number): string {
    return Array.from({ length: words }, () => this.#word()).join(" ");
  }
}

const NOISE_BYTES = 8_000_000;

function noiseOf(random: Random): Buffer {
  const noise = Buffer.alloc(NOISE_BYTES);
  for (let at = 0; at < noise.length; at += 4) noise.writeUInt32LE(random() * 2 ** 32, at);
  return noise;
}

const REQUEST_HEADERS: [string, string][] = [
  ["Host", "site.example"],
  ["User-Agent", "bench"],
  ["Accept", "*/*"],
  ["Accept-Encoding", "gzip, br"],
];
const FOOTER = "All that stands here is made up. ".repeat(20);

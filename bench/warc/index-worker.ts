/** Indexes one WARC file in a process of its own, and tells how long it took and what memory it had at the most. */
import { createReadStream } from "node:fs";
import { readWarcFile } from "../../shared/archive/warc-file/read-warc-file.ts";

const [file = ""] = process.argv.slice(2);
const started = performance.now();
let records = 0;
for await (const event of readWarcFile((start) => createReadStream(file, { start }), { keep: () => 1024 * 1024 })) {
  if (event.kind === "complaint") throw new Error(event.message);
  records += 1;
}
const seconds = (performance.now() - started) / 1000;
process.stdout.write(`${JSON.stringify({ seconds, records, rssMb: process.resourceUsage().maxRSS / 1024 })}\n`);

/**
 * Loads a bundle as Lambda does, in a process of its own, and calls its handler with an event while nothing that it
 * asks for answers: `node bundle-probe.mjs index.mjs event.json MS`. The last line tells what came of it, as JSON.
 */
import dns from "node:dns";
import { readFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { Writable } from "node:stream";
import { pathToFileURL } from "node:url";

const [, , bundle = "", eventFile = "", longestMs] = process.argv;
const REMAINING_MS = 20_000;

// no name has an address
const unknownName = (name) => Object.assign(new Error(`no address of ${name}`), { code: "ENOTFOUND" });
dns.lookup = (name, ...rest) => process.nextTick(rest.at(-1), unknownName(name));
dns.promises.lookup = async (name) => {
  throw unknownName(name);
};
syncBuiltinESMExports();

let head;
globalThis.awslambda = {
  streamifyResponse: (handler) => Object.assign(handler, { isStreaming: true }),
  HttpResponseStream: {
    from: (stream, answer) => {
      head = answer;
      return stream;
    },
  },
};

function tell(outcome) {
  process.stdout.write(`\n${JSON.stringify(outcome)}\n`, () => process.exit());
}

async function call(handler) {
  const event = JSON.parse(readFileSync(eventFile, "utf8"));
  const context = { awsRequestId: "sample", getRemainingTimeInMillis: () => REMAINING_MS };
  if (!handler.isStreaming) return await handler(event, context);
  await handler(event, new Writable({ write: (_chunk, _encoding, done) => done() }), context);
  return head;
}

setTimeout(() => tell({ pending: true }), Number(longestMs));
try {
  const { handler } = await import(pathToFileURL(bundle).href);
  const answer = await call(handler);
  tell({ status: answer?.statusCode, failures: answer?.batchItemFailures?.length });
} catch (error) {
  tell({ error: error?.name, code: error?.code, message: String(error?.message) });
}

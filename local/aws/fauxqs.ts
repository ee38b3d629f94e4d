/**
 * SQS and S3 by `fauxqs`, put together from its parts rather than by its `startFauxqs`, which listens on every network
 * interface, hides its HTTP app and takes no object above 11 MiB.
 */
import { rmSync } from "node:fs";
import type { OutgoingHttpHeaders } from "node:http";
import { join } from "node:path";
import { pipeline, Readable } from "node:stream";
import { buildApp } from "fauxqs";
import { type FauxqsApp, S3Store, SnsStore, SqsStore, takeObjectsUpTo } from "./fauxqs-patch.ts";
import { DurableMessages, DurableObjects } from "./fauxqs-state.ts";
import { bodyOf, LARGE_BYTES, type Spooled, streamOf } from "./large-bodies.ts";

export { type FauxqsApp, type S3Store, SqsStore };

export interface Fauxqs {
  /** For hooks, which must be added before `listen`. */
  app: FauxqsApp;
  queues: SqsStore;
  buckets: S3Store;
  /**
   * Listens on 127.0.0.1 only.
   * @returns the port
   */
  listen(port: number): Promise<number>;
  stop(): Promise<void>;
}

/** S3 takes 5 GiB in one request; here an object may be in memory while it is written. */
const LARGEST_OBJECT_BYTES = 1024 ** 3;

/** @param directory where state is kept; in memory where it is undefined */
export function createFauxqs(directory: string | undefined, region: string): Fauxqs {
  const queues = new SqsStore();
  // queue URLs then hold the address that was called, not `sqs.*.localhost`, which not every machine resolves
  queues.host = "";
  const buckets = new S3Store();
  const topics = new SnsStore();
  const persistence = directory === undefined ? undefined : attachPersistence(directory, queues, buckets, topics);
  const stores = { sqsStore: queues, snsStore: topics, s3Store: buckets };
  const app = buildApp({ logger: false, defaultRegion: region, stores });
  takeObjectsUpTo(LARGEST_OBJECT_BYTES, app);
  if (persistence !== undefined) keepOutOfMemory(app, persistence.objects);
  return {
    app,
    queues,
    buckets,
    async listen(port) {
      return Number(new URL(await app.listen({ port, host: "127.0.0.1" })).port);
    },
    async stop() {
      await app.close();
      persistence?.close();
    },
  };
}

/** Large objects go from and to their files, but for those that are sent in parts or in chunks that are signed. */
function keepOutOfMemory(app: FauxqsApp, objects: DurableObjects): void {
  const spools = new WeakMap<object, Spooled>();
  app.addHook("onRequest", (request, _reply, done) => {
    if (request.method === "GET") objects.answerFromFile(done);
    else done();
  });
  app.addHook("onSend", (_request, reply, payload, done) => {
    const stream = streamOf(payload);
    if (stream === undefined) return done(null, payload);
    // or another answer is sent once the handler has returned, which is before a stream begins
    reply.hijack();
    reply.raw.writeHead(reply.statusCode, reply.getHeaders() as OutgoingHttpHeaders);
    // whoever hung up hears nothing
    pipeline(stream, reply.raw, () => {});
  });
  app.addHook("preParsing", async (request, _reply, payload) => {
    const bytes = Number(request.headers["content-length"]);
    const query = new URL(request.url, "http://s3.test").searchParams;
    const isUpload = request.method === "PUT" && query.has("X-Amz-Signature") && !query.has("uploadId");
    const isPlain = request.headers["x-amz-content-sha256"] === undefined;
    if (!isUpload || !isPlain || !(bytes > LARGE_BYTES && bytes <= LARGEST_OBJECT_BYTES)) return payload;
    spools.set(request, await objects.spool(payload));
    return Object.assign(Readable.from([]), { receivedEncodedLength: bytes });
  });
  app.addHook("preValidation", (request, _reply, done) => {
    const spooled = spools.get(request);
    if (spooled !== undefined) request.body = bodyOf(spooled);
    done();
  });
  app.addHook("onResponse", (request, _reply, done) => {
    const spooled = spools.get(request);
    if (spooled !== undefined) rmSync(spooled.file, { force: true });
    done();
  });
}

function attachPersistence(directory: string, queues: SqsStore, buckets: S3Store, topics: SnsStore) {
  const messages = new DurableMessages(join(directory, "queues"));
  const objects = new DurableObjects(join(directory, "objects"));
  // loaded before they are attached: loading must not write
  messages.loadSqsAndSns(queues, topics);
  objects.loadS3(buckets);
  queues.persistence = messages;
  topics.persistence = messages;
  for (const queue of queues.allQueues()) queue.persistence = messages;
  buckets.persistence = objects;
  return {
    objects,
    close() {
      messages.close();
      objects.close();
    },
  };
}

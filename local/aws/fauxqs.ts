/**
 * SQS and S3 by `fauxqs`, put together from its parts rather than by its `startFauxqs`, which listens on every network
 * interface, hides its HTTP app and takes no object above 11 MiB.
 */
import { join } from "node:path";
import { buildApp } from "fauxqs";
import { type FauxqsApp, S3Store, SnsStore, SqsStore, takeObjectsUpTo } from "./fauxqs-patch.ts";
import { DurableMessages, DurableObjects } from "./fauxqs-state.ts";

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

/** S3 takes 5 GiB in one request; here an object is in memory while it is written. */
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
  // the last hook: the handler runs before `done` returns
  app.addHook("preHandler", (request, _reply, done) => {
    if (persistence === undefined || request.method !== "GET" || request.headers.range === undefined) done();
    else persistence.objects.answerRange(done);
  });
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

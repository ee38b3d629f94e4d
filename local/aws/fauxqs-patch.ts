/**
 * The patch of fauxqs that is carried here until it is part of the package: everything of it that lies behind its
 * exports is reached from this file and no other, and its faults are mended here. `docs/upstream/fauxqs.md` offers the
 * same to its maintainers; the test of this file fails with any other version than the one below, and where a fault is
 * gone.
 */
import { DatabaseSync } from "node:sqlite";
import type { buildApp } from "fauxqs";
import { PersistenceManager } from "../../node_modules/fauxqs/dist/persistence.js";

export { FileS3Persistence } from "../../node_modules/fauxqs/dist/s3/fileS3Persistence.js";
export { S3Store } from "../../node_modules/fauxqs/dist/s3/s3Store.js";
export { SnsStore } from "../../node_modules/fauxqs/dist/sns/snsStore.js";
export { SqsStore } from "../../node_modules/fauxqs/dist/sqs/sqsStore.js";

export const PATCHED_VERSION = "2.4.1";

export type FauxqsApp = ReturnType<typeof buildApp>;

/** Messages and queues in SQLite. */
export class PatchedMessages extends PersistenceManager {
  /** A connection of our own: the other one is private. */
  protected readonly database: DatabaseSync;
  readonly #makeReady;

  /** @param file where `PersistenceManager` keeps its database in the directory */
  constructor(directory: string, file: string) {
    super(directory);
    this.database = new DatabaseSync(file);
    this.#makeReady = this.database.prepare(
      "update sqs_messages set receipt_handle = null, visibility_deadline = null where message_id = ?",
    );
    for (const database of [this.database, (this as unknown as { db: DatabaseSync }).db]) {
      // cannot corrupt in WAL mode and survives a kill; only a crash of the machine can lose the last messages
      database.exec("pragma synchronous = normal; pragma busy_timeout = 5000");
    }
  }

  /**
   * fauxqs sets the receive count to null here, which its own schema refuses: the message would be lost until a
   * restart.
   */
  override updateMessageReady(messageId: string): void {
    this.#makeReady.run(messageId);
  }

  override close(): void {
    this.database.close();
    super.close();
  }
}

/**
 * fauxqs takes no object above 11 MiB.
 * @param bytes of the largest object
 */
export function takeObjectsUpTo(bytes: number, app: FauxqsApp): void {
  app.removeContentTypeParser("*");
  app.addContentTypeParser("*", { parseAs: "buffer", bodyLimit: bytes }, (_request, body, done) => {
    done(null, body);
  });
}

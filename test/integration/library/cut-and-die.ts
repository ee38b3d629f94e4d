/** A sweep that cuts documents and is killed before it sends what it has committed; its argument is a database. */
import { changeChunkSize } from "../../../shared/knowledge/embedding/chunk-size-change.ts";
import { connectDatabase } from "../../../shared/platform/database/database.ts";
import { createLogger } from "../../../shared/platform/observability/log.ts";

const [url = ""] = process.argv.slice(2);
const die = async () => process.kill(process.pid, "SIGKILL");
await changeChunkSize(
  {
    sql: connectDatabase({ url, poolSize: 1 }),
    queues: { send: die as never, sendAll: die as never, sendRaw: die as never },
    log: createLogger({}, "error", () => {}),
    maxTokens: 512,
  },
  () => true,
);

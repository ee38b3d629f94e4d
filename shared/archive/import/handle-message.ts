/** Does what a message of the `imports` queue asks for. */
import { beginImport, sendImport } from "./imports.ts";
import { type IndexerDependencies, indexSlice } from "./index-slice.ts";
import { type ImportMessage, uploadedObjects } from "./task.ts";

/** @param remainingMs until the function is stopped */
export async function handleImportMessage(
  dependencies: IndexerDependencies,
  message: ImportMessage,
  remainingMs: () => number,
): Promise<void> {
  if ("importId" in message) return await indexSlice(dependencies, message.importId, remainingMs);
  if (!("Records" in message)) return;
  const [first, ...others] = uploadedObjects(message);
  // S3 puts one object in an event, and does not promise that
  for (const object of others) {
    const { id, begun } = await beginImport(dependencies, object);
    if (!begun) await sendImport(dependencies.queues, id);
  }
  if (first === undefined) return;
  const { id, begun } = await beginImport(dependencies, first);
  if (!begun) await indexSlice(dependencies, id, remainingMs);
}

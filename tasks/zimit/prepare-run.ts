/** Lays what was ordered where the engine finds it. */
import { mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { orderKey, type RunOrder, runOrderSchema } from "../../shared/archive/engines/run-files.ts";
import { OUTPUT } from "../../shared/archive/engines/zimit-command.ts";
import type { ObjectStore } from "../../shared/platform/aws/objects.ts";

export interface Run {
  /** Of its keys. */
  prefix: string;
  /** The shared volume. */
  output: string;
}

export async function readOrder(objects: Pick<ObjectStore, "get">, prefix: string): Promise<RunOrder> {
  const key = orderKey(prefix);
  const bytes = await objects.get(key);
  if (bytes === undefined) throw new Error(`There is no order ${key} in the bucket`);
  return runOrderSchema.parse(JSON.parse(Buffer.from(bytes).toString("utf8")));
}

/** @throws Error where the order or its state is not in the bucket */
export async function prepareRun(
  { objects }: { objects: Pick<ObjectStore, "get"> },
  { prefix, output }: Run,
): Promise<void> {
  const order = await readOrder(objects, prefix);
  const folder = join(output, ".run");
  await mkdir(folder, { recursive: true });
  if (order.state !== null) {
    const state = await objects.get(order.state);
    if (state === undefined) throw new Error(`There is no state ${order.state} in the bucket`);
    await writeFile(join(folder, "state.yaml"), state);
  }
  await writeFile(join(folder, "seeds.txt"), `${order.seeds.join("\n")}\n`);
  await writeFile(join(folder, "rotate"), order.rotate ?? "");
  const command = order.command.map((argument) => argument.replace(OUTPUT, output));
  // the engine begins once it is there
  const written = join(folder, "arguments.new");
  await writeFile(written, command.map((argument) => `${argument}\0`).join(""));
  await rename(written, join(folder, "arguments"));
}

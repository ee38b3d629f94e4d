/**
 * Fails where the API breaks clients of the document that is committed, `docs/openapi.json`, or differs from it at all:
 * a new major version may break them, and what `checks/openapi/allowed-breaks.ts` has with its reason.
 */
import { readFile } from "node:fs/promises";
import { unwantedBreaks } from "./openapi/breaking.ts";
import { OPENAPI_FILE, openApiDocument } from "./openapi.ts";

const [committed, generated] = await Promise.all([readFile(OPENAPI_FILE, "utf8"), openApiDocument()]);
const broken = unwantedBreaks(committed, generated);
for (const line of broken) process.stdout.write(`breaks clients: ${line}\n`);
if (broken.length > 0) process.stdout.write("Undo it, or give its reason in checks/openapi/allowed-breaks.ts\n");
else if (committed !== generated) process.stdout.write("docs/openapi.json is not of these routes: checks/openapi.ts\n");
if (committed !== generated) process.exitCode = 1;

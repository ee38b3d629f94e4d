/** What can be had of an open page besides its DOM: a picture, a PDF, the results of scripts. Everything is bounded. */
import type { Protocol } from "puppeteer-core";
import { RenderError } from "../renderer.ts";
import type { OpenPage } from "./page.ts";

export type ImageFormat = "png" | "jpeg" | "webp";

export interface Screenshot {
  bytes: Buffer;
  /** CSS pixels. */
  width: number;
  height: number;
  /** The page is longer than what a picture holds. */
  truncated: boolean;
}

export interface ScriptResult {
  index: number;
  success: boolean;
  /** JSON value; null where there is none. */
  result: unknown;
  error: string | null;
}

/** Textures, and so pictures, end there. */
const LONGEST_SIDE = 16_384;
/** Of lossy formats. */
const QUALITY = 80;
const LARGEST_PDF = 50 * 1024 * 1024;
/** JSON characters, of one result and of all together: they travel in one item of the state table. */
const LARGEST_RESULT = 100_000;
const LARGEST_RESULTS = 250_000;
const LONGEST_MESSAGE = 1_000;

/** Takes a picture of the page, of its whole length where that is asked for. */
export async function takeScreenshot(
  { cdp }: OpenPage,
  { format, fullPage }: { format: ImageFormat; fullPage: boolean },
): Promise<Screenshot> {
  const { cssContentSize, cssLayoutViewport } = await cdp.send("Page.getLayoutMetrics");
  const { clientWidth, clientHeight } = cssLayoutViewport;
  const wanted = fullPage ? cssContentSize : { width: clientWidth, height: clientHeight };
  const side = (length: number): number => Math.min(LONGEST_SIDE, Math.max(1, Math.ceil(length)));
  const [width, height] = [side(wanted.width), side(wanted.height)];
  const { data } = await cdp.send("Page.captureScreenshot", {
    format,
    ...(format === "png" ? {} : { quality: QUALITY }),
    clip: { x: 0, y: 0, width, height, scale: 1 },
    captureBeyondViewport: fullPage,
  });
  const truncated = wanted.width > LONGEST_SIDE || wanted.height > LONGEST_SIDE;
  return { bytes: Buffer.from(data, "base64"), width, height, truncated };
}

/**
 * A4 with the backgrounds of the page.
 * @throws RenderError RENDER_TOO_LARGE
 */
export async function printPdf({ cdp }: OpenPage): Promise<Buffer> {
  const { stream } = await cdp.send("Page.printToPDF", {
    printBackground: true,
    paperWidth: 8.27,
    paperHeight: 11.69,
    transferMode: "ReturnAsStream",
  });
  if (stream === undefined) throw new RenderError("RENDER_FAILED", "The browser printed nothing");
  const pieces: Buffer[] = [];
  let size = 0;
  for (;;) {
    const { data, eof, base64Encoded } = await cdp.send("IO.read", { handle: stream, size: 1024 * 1024 });
    const piece = Buffer.from(data, base64Encoded ? "base64" : "utf8");
    size += piece.length;
    if (size > LARGEST_PDF) throw new RenderError("RENDER_TOO_LARGE", `The PDF is over ${LARGEST_PDF} bytes`);
    pieces.push(piece);
    if (eof) break;
  }
  await cdp.send("IO.close", { handle: stream });
  return Buffer.concat(pieces);
}

/**
 * Runs the scripts one after the other in the page, as its console would: the value of the last statement counts,
 * promises are waited for. A script that fails, or takes more than its share of the time, says so and the next one
 * runs.
 * @param deadline epoch ms
 */
export async function runScripts(
  open: OpenPage,
  scripts: readonly string[],
  deadline: number,
): Promise<ScriptResult[]> {
  const results: ScriptResult[] = [];
  let left = LARGEST_RESULTS;
  for (const [index, script] of scripts.entries()) {
    const share = Math.max(1, (deadline - Date.now()) / (scripts.length - index));
    const outcome = await runScript(open, script, share);
    const allowed = Math.min(LARGEST_RESULT, left);
    if ("error" in outcome) {
      results.push({ index, success: false, result: null, error: outcome.error.slice(0, LONGEST_MESSAGE) });
    } else if (outcome.json.length > allowed) {
      const error = `The result is ${outcome.json.length} characters as JSON, and ${allowed} are left: return less`;
      results.push({ index, success: false, result: null, error });
    } else {
      left -= outcome.json.length;
      results.push({ index, success: true, result: JSON.parse(outcome.json) as unknown, error: null });
    }
  }
  return results;
}

async function runScript(
  open: OpenPage,
  expression: string,
  timeoutMs: number,
): Promise<{ json: string } | { error: string }> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<{ error: string }>((resolve) => {
    timer = setTimeout(() => resolve({ error: "It was not done in its share of the time" }), timeoutMs);
  });
  try {
    return await Promise.race([evaluated(open, expression, timeoutMs), late]);
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  } finally {
    clearTimeout(timer);
  }
}

async function evaluated(
  { cdp }: OpenPage,
  expression: string,
  timeout: number,
): Promise<{ json: string } | { error: string }> {
  let answer: Protocol.Runtime.EvaluateResponse = await cdp.send("Runtime.evaluate", {
    expression,
    replMode: true,
    timeout,
  });
  const promiseObjectId = answer.result.subtype === "promise" ? answer.result.objectId : undefined;
  if (promiseObjectId !== undefined && !answer.exceptionDetails) {
    answer = await cdp.send("Runtime.awaitPromise", { promiseObjectId });
  }
  const { objectId } = answer.result;
  if (objectId !== undefined && !answer.exceptionDetails) {
    // in the page, so that what is too long need not come here first
    answer = await cdp.send("Runtime.callFunctionOn", {
      objectId,
      functionDeclaration: SERIALISE,
      returnByValue: true,
    });
    if (!answer.exceptionDetails) return { json: String(answer.result.value ?? "null") };
  }
  const { result, exceptionDetails } = answer;
  if (exceptionDetails) return { error: exceptionDetails.exception?.description ?? exceptionDetails.text };
  if (result.unserializableValue !== undefined) {
    return { error: `The result is no JSON value: ${result.unserializableValue}` };
  }
  return { json: JSON.stringify(result.value ?? null) };
}

/** Runs inside the page. */
const SERIALISE = `function () {
  const json = JSON.stringify(this);
  if (json !== undefined && json.length > ${LARGEST_RESULT}) {
    throw new RangeError("The result is " + json.length + " characters as JSON, and ${LARGEST_RESULT} are allowed: return less");
  }
  return json;
}`;

/**
 * A stand-in for Crawl4AI's server that has a browser: the packaged Chromium does with a page what the library of
 * version 0.9.2 does, as far as the client asks for it. Like the server's, its browser shares cookies between pages of
 * one place and follows where they lead.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import puppeteer, { type BrowserContext, type HTTPResponse, type Page as PuppeteerPage } from "puppeteer-core";
import { chromiumBinary } from "../../shared/render/chromium/binary.ts";
import { CRAWL4AI_TOKEN, CRAWL4AI_VERSION, RECORDED, resultLine } from "./crawl4ai-server.ts";

interface Params {
  geolocation: { params: { accuracy: number } };
  page_timeout: number;
  wait_for: string;
  wait_for_timeout: number;
}

interface BrowserParams {
  user_agent: string;
  text_mode: boolean;
}

export interface Crawl4AiBrowser extends AsyncDisposable {
  url: string;
}

export async function crawl4AiBrowser(): Promise<Crawl4AiBrowser> {
  const { executable, env } = await chromiumBinary("");
  const browser = await puppeteer.launch({
    executablePath: executable,
    env: { ...process.env, ...env },
    args: ["--no-sandbox", "--no-zygote", "--disable-gpu"],
    pipe: true,
  });
  const contexts = new Map<number, Promise<BrowserContext>>();
  const contextAt = ({ geolocation: { params } }: Params): Promise<BrowserContext> => {
    const context = contexts.get(params.accuracy) ?? browser.createBrowserContext();
    contexts.set(params.accuracy, context);
    return context;
  };
  const server = createServer(async (request, response) => {
    const answer = (status: number, body: unknown) => response.writeHead(status).end(`${JSON.stringify(body)}\n`);
    if (request.url === "/health") return answer(200, { status: "ok", version: CRAWL4AI_VERSION });
    if (request.headers.authorization !== `Bearer ${CRAWL4AI_TOKEN}`) return answer(401, RECORDED.noToken.body);
    const { urls, browser_config, crawler_config } = await bodyOf(request);
    const { params } = crawler_config;
    const crawling = crawled(await contextAt(params), urls[0] ?? "", browser_config.params, params);
    await crawling.then(
      (result) => answer(200, result),
      () => answer(500, RECORDED.failed.body),
    );
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await browser.close();
    },
  };
}

async function bodyOf(request: IncomingMessage) {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return JSON.parse(Buffer.concat(pieces).toString()) as {
    urls: string[];
    browser_config: { params: BrowserParams };
    crawler_config: { params: Params };
  };
}

async function crawled(
  context: BrowserContext,
  url: string,
  { user_agent: userAgent, text_mode: textMode }: BrowserParams,
  params: Params,
): Promise<object> {
  const page = await context.newPage();
  page.on("dialog", (dialog) => void dialog.dismiss());
  const { hostname } = new URL(url);
  try {
    await page.setUserAgent({ userAgent });
    if (textMode) await leaveOutPictures(page);
    let response: HTTPResponse | null;
    try {
      response = await page.goto(url, { waitUntil: "networkidle0", timeout: params.page_timeout });
    } catch (error) {
      const failed = `Error: Failed on navigating ACS-GOTO:\nPage.goto: ${(error as Error).message}`;
      return resultLine(url, { success: false, error: failed });
    }
    await page.evaluate(waiting(params)).catch(() => false);
    const html = await contentOf(page);
    return resultLine(url, { html, status: response?.status() ?? 200, redirectedUrl: page.url() });
  } finally {
    const pages = await context.pages();
    const opened = pages.filter((each) => each !== page && each.url().includes(hostname));
    await Promise.all([page, ...opened].map((each) => each.close().catch(() => undefined)));
  }
}

async function leaveOutPictures(page: PuppeteerPage): Promise<void> {
  await page.setRequestInterception(true);
  page.on("request", (request) => {
    const isText = !["image", "media", "font"].includes(request.resourceType());
    void (isText ? request.continue() : request.abort()).catch(() => undefined);
  });
}

/** A page that is just being left is asked again. */
async function contentOf(page: PuppeteerPage, tries = 10): Promise<string> {
  try {
    return await page.content();
  } catch (error) {
    if (tries <= 1) throw error;
    await delay(100);
    return await contentOf(page, tries - 1);
  }
}

/** Asked every 100 ms inside the page, for as long as it may take. */
const waiting = ({ wait_for, wait_for_timeout }: Params): string => `(async () => {
  const ready = ${wait_for.replace(/^js:/, "")};
  for (const since = Date.now(); ; ) {
    if (await ready()) return true;
    if (Date.now() - since > ${wait_for_timeout}) return false;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
})()`;

import { encode } from "gpt-tokenizer/encoding/cl100k_base";
import { describe, expect, it } from "vitest";
import { estimateTokens, piecesOf } from "../../../../shared/extract/chunks/tokens.ts";

const PASSAGES: Record<string, string> = {
  english: `A crawler that is polite waits between two requests to the same host, and it remembers what the host has asked for. When a server answers slowly or says that there were too many requests, the crawler slows down for everybody who works on that host. Pages that did not change since the last visit are recognised by their validators, so that nothing is transferred twice. What comes back is written to an archive before anything else looks at it, because a page that was lost cannot be fetched again in the state it was in.`,
  french: `Un robot d'indexation poli attend entre deux requêtes adressées au même serveur et se souvient de ce que celui-ci a demandé. Lorsque le serveur répond lentement ou signale un nombre excessif de requêtes, le robot ralentit pour tous ceux qui travaillent sur ce domaine. Les pages qui n'ont pas changé depuis la dernière visite sont reconnues grâce à leurs validateurs, de sorte que rien n'est transféré deux fois. Le contenu reçu est d'abord enregistré dans une archive, car une page perdue ne pourra plus jamais être récupérée dans le même état.`,
  german: `Ein höflicher Crawler wartet zwischen zwei Anfragen an denselben Server und merkt sich, worum dieser gebeten hat. Antwortet der Server langsam oder meldet er zu viele Anfragen, so wird der Crawler für alle langsamer, die an dieser Adresse arbeiten. Seiten, die sich seit dem letzten Besuch nicht verändert haben, werden an ihren Prüfwerten erkannt, damit nichts zweimal übertragen wird. Was zurückkommt, wird zuerst in ein Archiv geschrieben, weil eine verlorene Seite nie wieder in demselben Zustand abgerufen werden kann.`,
  code: `export async function fetchPage(url: string, options: FetchOptions): Promise<Capture> {
  const started = performance.now();
  const response = await request(url, { headers: options.headers, signal: options.signal });
  if (response.statusCode >= 500) {
    throw new RetryableError("SERVER_ERROR", \`\${url} answered \${response.statusCode}\`);
  }
  const body = await readLimited(response.body, options.maxBytes);
  return { url, status: response.statusCode, body, elapsed: performance.now() - started };
}`,
  chinese:
    "一个有礼貌的爬虫会在对同一服务器的两次请求之间等待，并记住服务器的要求。当服务器响应缓慢或提示请求过多时，爬虫会为所有人放慢速度。自上次访问以来没有变化的页面会通过校验信息被识别出来，这样就不会重复传输任何内容。",
  japanese:
    "礼儀正しいクローラーは、同じサーバーへの二つのリクエストの間に待ち時間を置き、サーバーが求めたことを覚えています。サーバーの応答が遅い場合や、リクエストが多すぎると知らされた場合、クローラーは速度を落とします。",
  korean:
    "예의 바른 크롤러는 같은 서버에 보내는 두 요청 사이에 기다리며 서버가 요구한 것을 기억합니다. 서버가 느리게 응답하거나 요청이 너무 많다고 알리면 크롤러는 모두를 위해 속도를 늦춥니다.",
  numbers: Array.from(
    { length: 40 },
    (_, row) => `${2000 + row}, ${(row * 7919) % 10_000}.${row}, ${row * 13}%, 2024-0${(row % 9) + 1}-1${row % 10}`,
  ).join("\n"),
};

describe("the token estimate", () => {
  it.each(Object.entries(PASSAGES))("is within 10 % of cl100k_base for %s", (_, text) => {
    const actual = encode(text).length;
    const estimate = estimateTokens(text);
    expect(Math.abs(estimate - actual) / actual, `${estimate} for ${actual}`).toBeLessThanOrEqual(0.1);
  });

  it("is nothing for white space and at least one for anything else", () => {
    expect(estimateTokens("")).toBe(0);
    expect(estimateTokens(" \n\t ")).toBe(0);
    for (const text of ["a", "é", "1", ".", "字", "😀"]) expect(estimateTokens(text)).toBeGreaterThanOrEqual(1);
  });

  it("cuts pieces that cover every visible character once", () => {
    for (const text of Object.values(PASSAGES)) {
      let covered = 0;
      const { count, starts, ends } = piecesOf(text);
      for (let piece = 0; piece < count; piece++) {
        const [start = 0, end = 0] = [starts[piece], ends[piece]];
        expect(text.slice(covered, start).trim()).toBe("");
        expect(end).toBeGreaterThan(start);
        covered = end;
      }
      expect(text.slice(covered).trim()).toBe("");
    }
  });
});

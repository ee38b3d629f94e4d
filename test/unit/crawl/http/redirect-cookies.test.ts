import { describe, expect, it } from "vitest";
import { createRedirectCookies } from "../../../../shared/crawl/http/redirect-cookies.ts";
import { followRedirects } from "../../../../shared/crawl/http/redirects.ts";

const START = "https://www.example.org/a/b?c";

/** What is sent to each URL after these cookies were set at `START`. */
function sent(cookies: readonly string[], urls: readonly string[], from = START): (string | null)[] {
  const jar = createRedirectCookies(() => Date.UTC(2026, 0, 1));
  jar.take(
    new URL(from),
    cookies.map((cookie): [string, string] => ["Set-Cookie", cookie]),
  );
  return urls.map((url) => jar.headerFor(new URL(url)));
}

it("sends what was set to the host that set it, below its path", () => {
  expect(
    sent(
      ["k=1", "p=2; Path=/", "deep=3; path=/a/b/c", "odd; Path=/", "e=; path=/", "k=4"],
      [
        "https://www.example.org/a/x",
        "https://www.example.org/",
        "https://www.example.org/a/b/c/d",
        "https://example.org/a/",
      ],
    ),
  ).toEqual(["k=4; p=2; odd; e=", "p=2; odd; e=", "deep=3; k=4; p=2; odd; e=", null]);
  expect(sent(["k=1; path=/a"], ["https://www.example.org/ab", "https://www.example.org/a"])).toEqual([null, "k=1"]);
});

it("sends what a session restores to the host that set it alone, and what the chain sets anew in its place", () => {
  const [url, below] = [new URL("https://example.org/"), new URL("https://www.example.org/")];
  const cookie = { name: "d", value: "1", domain: "example.org", hostOnly: false, path: "/", secure: false };
  const jar = createRedirectCookies();
  jar.restore(url, [cookie]);
  expect([url, below].map((each) => jar.headerFor(each))).toEqual(["d=1", null]);
  jar.take(url, [["set-cookie", "d=2; Domain=example.org"]]);
  jar.restore(url, [cookie]);
  expect([url, below].map((each) => jar.headerFor(each))).toEqual(["d=2", "d=2"]);
});

it("sends what is for a domain to its hosts, and takes nothing for another's, or for all of a registry's", () => {
  const hosts = [
    "https://www.example.org/",
    "https://example.org/",
    "https://x.y.example.org/",
    "https://badexample.org/",
  ];
  expect(sent(["d=1; Domain=.Example.org; path=/"], hosts)).toEqual(["d=1", "d=1", "d=1", null]);
  for (const domain of ["org", "other.example", "ww.example.org", "a.www.example.org", "xample.org"]) {
    expect(sent([`d=1; domain=${domain}; path=/`], hosts)).toEqual([null, null, null, null]);
  }
  expect(sent(["d=1; domain=co.uk; path=/"], ["https://a.co.uk/"], "https://a.co.uk/")).toEqual([null]);
  expect(sent(["d=1; domain=0.0.1; path=/"], ["http://127.0.0.1/"], "http://127.0.0.1/")).toEqual([null]);
});

it("sends what is secure by TLS only, and takes it from there only", () => {
  const both = ["https://www.example.org/a/", "http://www.example.org/a/"];
  expect(sent(["s=1; Secure", "t=2"], both)).toEqual(["s=1; t=2", "t=2"]);
  expect(sent(["s=1; Secure"], both, "http://www.example.org/a/b")).toEqual([null, null]);
  expect(sent(["__Secure-a=1", "__Host-b=1; Secure", "__Host-c=1; Secure; Path=/"], both)).toEqual([
    "__Host-c=1",
    null,
  ]);
});

it("forgets what is over, by Max-Age before Expires", () => {
  const past = "Expires=Thu, 01 Jan 1970 00:00:00 GMT";
  expect(sent(["k=1", `k=; ${past}`], [START])).toEqual([null]);
  expect(sent(["k=1", "k=2; Max-Age=0"], [START])).toEqual([null]);
  expect(sent([`k=1; ${past}; Max-Age=60`], [START])).toEqual(["k=1"]);
  expect(sent(["k=1; Expires=Fri, 01 Jan 2027 00:00:00 GMT"], [START])).toEqual(["k=1"]);
  expect(sent(["k=1; Max-Age=soon"], [START])).toEqual(["k=1"]);
});

it("holds no more than a browser would", () => {
  expect(sent([`k=${"x".repeat(5000)}`, "=", "a=b\0c", ""], [START])).toEqual([null]);
  const many = Array.from({ length: 200 }, (_, at) => `k${at}=${at}`);
  expect(sent(many, [START])[0]?.split("; ")).toHaveLength(50);
  expect(
    sent(
      Array.from({ length: 9 }, (_, at) => `k${at}=${"x".repeat(1000)}`),
      [START],
    ),
  ).toEqual([null]);
});

describe("a chain of redirects", () => {
  const answer = (status: number, ...headers: [string, string][]) => ({
    response: { status, startLine: `HTTP/1.1 ${status} `, headers, body: Buffer.alloc(0), truncated: null },
    fault: null,
  });

  it("comes to a URL again with the cookie that it was sent to fetch, and no further", async () => {
    const asked: string[] = [];
    const follow = () =>
      followRedirects(new URL("http://a.example/s"), 5, async (url, cookies) => {
        asked.push(`${url.pathname} ${cookies}`);
        if (url.pathname === "/hop") return answer(302, ["location", "/s"], ["set-cookie", "seen=1; path=/"]);
        return cookies === null ? answer(302, ["location", "/hop"]) : answer(200);
      });
    expect(await follow()).toMatchObject({ strayed: false, response: { status: 200 } });
    await follow();
    expect(asked).toEqual(["/s null", "/hop null", "/s seen=1", "/s null", "/hop null", "/s seen=1"]);
  });

  it("that leads back without a new cookie is a loop, and one that always sets another ends", async () => {
    const same = await followRedirects(new URL("http://a.example/s"), 5, async () =>
      answer(302, ["location", "/s"], ["set-cookie", "seen=1"]),
    );
    expect(same.fault?.code).toBe("REDIRECT_LOOP");
    let count = 0;
    const other = await followRedirects(new URL("http://a.example/s"), 5, async () =>
      answer(302, ["location", "/s"], ["set-cookie", `seen=${count++}`]),
    );
    expect([other.fault?.code, count]).toEqual(["TOO_MANY_REDIRECTS", 6]);
  });
});

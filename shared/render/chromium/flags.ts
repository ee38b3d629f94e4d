/**
 * Holds the arguments that Chromium is started with. Why each, and what the missing sandbox means:
 * docs/decisions/0023-rendering.md.
 */

/** Features that talk to services of the browser's maker, or that a page read by a machine has no use for. */
const FEATURES_OFF = [
  "AcceptCHFrame",
  "AutofillServerCommunication",
  "BackForwardCache",
  "CertificateTransparencyComponentUpdater",
  "DialMediaRouteProvider",
  "DnsOverHttps",
  "InterestFeedContentSuggestions",
  "IsolateOrigins",
  "MediaRouter",
  "OptimizationHints",
  "PaintHolding",
  "Prerender2",
  "SpeculationRulesPrefetchFuture",
  "Translate",
  "WebBluetooth",
  "WebUSB",
  "site-per-process",
];

export interface ChromiumSettings {
  profile: string;
  proxyPort: number;
  userAgent: string;
}

/** Lists the arguments of the browser's process. */
export function chromiumArguments({ profile, proxyPort, userAgent }: ChromiumSettings): string[] {
  return [
    "--headless",
    `--user-agent=${userAgent}`,
    "--remote-debugging-pipe",
    `--user-data-dir=${profile}`,
    // every connection, loopback too, through the proxy that checks it; the browser resolves no name
    `--proxy-server=http://127.0.0.1:${proxyPort}`,
    "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--disable-quic",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    // a container's root has no user namespace to put a sandbox in, and Lambda no /dev/shm
    "--no-sandbox",
    "--no-zygote",
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--disable-webgl",
    "--disable-webgl2",
    "--disable-3d-apis",
    "--js-flags=--max-old-space-size=512",
    `--disable-features=${FEATURES_OFF.join(",")}`,
    "--disable-site-isolation-trials",
    "--renderer-process-limit=2",
    "--disable-background-networking",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-breakpad",
    "--disable-client-side-phishing-detection",
    "--disable-component-extensions-with-background-pages",
    "--disable-component-update",
    "--disable-crash-reporter",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-hang-monitor",
    "--disable-notifications",
    "--disable-print-preview",
    "--disable-prompt-on-repost",
    "--disable-renderer-backgrounding",
    "--disable-search-engine-choice-screen",
    "--disable-speech-api",
    "--disable-sync",
    "--deny-permission-prompts",
    "--disk-cache-size=1",
    "--disable-file-system",
    "--font-render-hinting=none",
    "--force-color-profile=srgb",
    "--hide-scrollbars",
    "--metrics-recording-only",
    "--mute-audio",
    "--no-default-browser-check",
    "--no-first-run",
    "--no-pings",
    "--no-service-autorun",
    "--password-store=basic",
    "--use-mock-keychain",
  ];
}

declare module "html-encoding-sniffer" {
  /**
   * https://html.spec.whatwg.org/#encoding-sniffing-algorithm; the answer is `defaultEncoding` where nothing is
   * declared.
   */
  export default function sniffHtmlEncoding(
    bytes: Uint8Array,
    options?: { xml?: boolean; transportLayerEncodingLabel?: string; defaultEncoding?: string },
  ): string;
}

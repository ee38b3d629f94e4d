/** An element that leaves no node, while it is being skipped: what is open within it. */

/** Within these an `<svg>` holds HTML again (HTML 13.2.6.5, "HTML integration point"). */
const HOLDS_HTML = ["foreignobject", "desc", "title"] as const;

export class OpaqueElement {
  readonly name: string;
  /** Text so far; null where nobody wants it. */
  text: string | null;
  /** How the formula is shown that a script holds for MathJax; null where it holds none. */
  formula: "block" | "inline" | null = null;
  private readonly openCount: Map<string, number>;

  constructor(name: string, text: string | null) {
    this.name = name;
    this.text = text;
    this.openCount = new Map([[name, 1]]);
  }

  open(name: string): void {
    this.openCount.set(name, (this.openCount.get(name) ?? 0) + 1);
  }

  /**
   * Takes an end tag in.
   * @returns what it ends: something within, the element itself, or nothing of either
   */
  close(name: string): "within" | "itself" | "outside" {
    const count = this.openCount.get(name) ?? 0;
    if (count === 0) return "outside";
    this.openCount.set(name, count - 1);
    return name === this.name && count === 1 ? "itself" : "within";
  }

  /** Whether a start tag of HTML would stand in `<svg>` itself, where none belongs. */
  get isBareSvg(): boolean {
    return this.name === "svg" && !HOLDS_HTML.some((name) => (this.openCount.get(name) ?? 0) > 0);
  }
}

/** What a test knows for certain of things that change: between the answer to one change and the start of the next. */

export interface State {
  visible: boolean;
  collection: string | null;
  tags: readonly string[];
  /** Of the text. */
  version: number;
}

interface Span {
  from: number;
  to: number;
  state: State;
}

export class KnownStates {
  private clock = 0;
  private readonly spans = new Map<string, Span[]>();

  /** A moment that lies after all before. */
  now(): number {
    this.clock += 1;
    return this.clock;
  }

  /** From now on the thing may be in any state. */
  changeBegins(url: string): void {
    const last = this.spans.get(url)?.at(-1);
    if (last !== undefined) last.to = Math.min(last.to, this.now());
  }

  changeEnded(url: string, state: State): void {
    const spans = this.spans.get(url) ?? [];
    spans.push({ from: this.now(), to: Number.POSITIVE_INFINITY, state });
    this.spans.set(url, spans);
  }

  /** The state that held from one moment to the other without a break. */
  throughout(url: string, from: number, to: number): State | undefined {
    return this.spans.get(url)?.findLast((span) => span.from <= from && span.to >= to)?.state;
  }

  current(url: string): State | undefined {
    const now = this.now();
    return this.throughout(url, now, now);
  }
}

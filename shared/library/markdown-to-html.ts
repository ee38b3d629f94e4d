/** Markdown as HTML, in time and memory that its length bounds, however deeply it nests. */
import { marked, Tokenizer } from "marked";

/** Of lists and quotations in one another. Each level reads what stands below it once more. */
const DEEPEST_BLOCKS = 32;
/** Of emphasis in one another. */
const DEEPEST_INLINE = 16;

/** What nests more deeply is text with its marks: nothing of it is lost. */
export function markdownToHtml(text: string): string {
  return marked.parse(text, { async: false, gfm: true, tokenizer: new BoundedTokenizer() });
}

class BoundedTokenizer extends Tokenizer {
  private blocks = 0;
  private inline = 0;

  override list(src: string) {
    return this.inBlock(() => super.list(src));
  }

  override blockquote(src: string) {
    return this.inBlock(() => super.blockquote(src));
  }

  override emStrong(src: string, masked: string, before?: string) {
    return this.inInline(() => super.emStrong(src, masked, before));
  }

  override del(...asked: Parameters<Tokenizer["del"]>) {
    return this.inInline(() => super.del(...asked));
  }

  private inBlock<Token>(read: () => Token): Token | undefined {
    if (this.blocks >= DEEPEST_BLOCKS) return undefined;
    this.blocks += 1;
    try {
      return read();
    } finally {
      this.blocks -= 1;
    }
  }

  private inInline<Token>(read: () => Token): Token | undefined {
    if (this.inline >= DEEPEST_INLINE) return undefined;
    this.inline += 1;
    try {
      return read();
    } finally {
      this.inline -= 1;
    }
  }
}

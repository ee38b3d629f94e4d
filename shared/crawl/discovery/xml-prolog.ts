/**
 * An XML document without its document type declaration, in pieces. What that declares is never expanded, so nothing of
 * it is wanted; and what stands in the values of its entities must not be taken for the document.
 */
export interface XmlProlog {
  /** @returns what may be parsed; "" while the declaration goes on */
  write(text: string): string;
  /** @returns what was held back */
  end(): string;
}

/** A longer prolog is no list's; what is in it is parsed as it stands. */
const LONGEST_PROLOG = 256 * 1024;

export function createXmlProlog(): XmlProlog {
  let held = "";
  let done = false;
  return {
    write(text) {
      if (done) return text;
      held += text;
      const rest = withoutDoctype(held);
      if (rest === undefined && held.length <= LONGEST_PROLOG) return "";
      done = true;
      const whole = rest ?? held;
      held = "";
      return whole;
    },
    end() {
      const rest = held;
      held = "";
      return rest;
    },
  };
}

/** @returns undefined where the prolog may go on */
function withoutDoctype(text: string): string | undefined {
  let at = 0;
  for (;;) {
    at += /^\s*/.exec(text.slice(at))?.[0].length ?? 0;
    const begun = text.slice(at, at + DOCTYPE.length).toLowerCase();
    if (begun === DOCTYPE) {
      const end = doctypeEnd(text, at);
      return end === undefined ? undefined : text.slice(0, at) + text.slice(end);
    }
    const end = text.startsWith("<?", at)
      ? after(text, "?>", at)
      : text.startsWith("<!--", at)
        ? after(text, "-->", at)
        : at;
    if (end === undefined) return undefined;
    // the root, or too little to tell
    if (end === at)
      return begun.length < DOCTYPE.length && DOCTYPES.some((each) => each.startsWith(begun)) ? undefined : text;
    at = end;
  }
}

const DOCTYPE = "<!doctype";
const DOCTYPES = [DOCTYPE, "<!--", "<?"];

/** Quoted values, comments and instructions may hold any bracket. */
function doctypeEnd(text: string, start: number): number | undefined {
  let depth = 0;
  let at: number | undefined = start + DOCTYPE.length;
  while (at !== undefined && at < text.length) {
    const character = text.charAt(at);
    if (character === ">" && depth === 0) return at + 1;
    if (text.startsWith("<!--", at)) at = after(text, "-->", at + 4);
    else if (text.startsWith("<?", at)) at = after(text, "?>", at);
    else if (character === '"' || character === "'") at = after(text, character, at + 1);
    else {
      // a declaration within the subset ends by its own bracket
      if (character === "[" || character === "<") depth += 1;
      if (character === "]" || character === ">") depth -= 1;
      at += 1;
    }
  }
  return undefined;
}

function after(text: string, mark: string, from: number): number | undefined {
  const at = text.indexOf(mark, from);
  return at < 0 ? undefined : at + mark.length;
}

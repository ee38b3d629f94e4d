/** Reads formulas in MathML: the TeX that they were made of, or the formula in one line. */
import { isText } from "domhandler";
import { PageElement } from "./page-tree.ts";

/** @returns one line of text, and whether it is TeX */
export function formulaOf(math: PageElement): { text: string; tex: boolean } {
  const tex = texOf(math) ?? math.attribs.alttext ?? "";
  const source = tex.replace(/\s+/g, " ").trim();
  if (source !== "") return { text: /^\{\\displaystyle\s*(.*)\}$/s.exec(source)?.[1]?.trim() ?? source, tex: true };
  return { text: inLine(math).replace(/\s+/g, " ").trim(), tex: false };
}

function texOf(element: PageElement): string | undefined {
  for (const child of element.children) {
    if (!(child instanceof PageElement)) continue;
    const isTex = child.name === "annotation" && /tex/i.test(child.attribs.encoding ?? "");
    const found = isTex ? textBelow(child) : texOf(child);
    if (found !== undefined) return found;
  }
  return undefined;
}

const textBelow = (element: PageElement): string =>
  element.children
    .map((child) => (isText(child) ? child.data : child instanceof PageElement ? textBelow(child) : ""))
    .join("");

/** MathML 3, sections 3.2 to 3.5. */
function inLine(element: PageElement): string {
  const parts = element.children.filter((child) => child instanceof PageElement);
  const [base = "", first = "", second = ""] = parts.map((child) => inLine(child));
  switch (element.name) {
    case "annotation":
    case "annotation-xml":
      return "";
    case "mi":
    case "mn":
    case "ms":
      return textBelow(element).trim();
    case "mtext":
      return ` ${textBelow(element).trim()} `;
    case "mo":
      return operator(textBelow(element).trim());
    case "mfrac":
      return `${grouped(base)}/${grouped(first)}`;
    case "msup":
    case "mover":
      return `${grouped(base)}^${grouped(first)}`;
    case "msub":
    case "munder":
      return `${grouped(base)}_${grouped(first)}`;
    case "msubsup":
    case "munderover":
      return `${grouped(base)}_${grouped(first)}^${grouped(second)}`;
    case "msqrt":
      return `√${grouped(parts.map((child) => inLine(child)).join(""))}`;
    case "mroot":
      return `${grouped(first)}√${grouped(base)}`;
    case "mfenced": {
      const { open = "(", close = ")" } = element.attribs;
      return open + parts.map((child) => inLine(child)).join(", ") + close;
    }
    case "mtr":
    case "mlabeledtr":
      return `${parts.map((child) => inLine(child)).join(", ")}; `;
    case "mspace":
      return " ";
    default:
      return element.children
        .map((child) => (isText(child) ? child.data.trim() : child instanceof PageElement ? inLine(child) : ""))
        .join("");
  }
}

/** Invisible operators are so in a line, too. */
function operator(text: string): string {
  if (/^[\u2061-\u2064]?$/.test(text)) return "";
  return /^[=<>≤≥≠≈≡∼→←↔⇒⇔±+−∈∉⊂⊆∪∩∧∨]$/.test(text) ? ` ${text} ` : text;
}

const grouped = (text: string): string =>
  /^[\p{L}\p{N}.,∞∑∏∫]*$/u.test(text.trim()) ? text.trim() : `(${text.trim()})`;

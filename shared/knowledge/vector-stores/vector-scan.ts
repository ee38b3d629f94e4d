/**
 * The two inner loops of the embedded store, in WebAssembly: sixteen bytes at a time, which JavaScript has no words
 * for. Ten thousand codes of 256 bits take 0.03 ms instead of 0.55, two thousand vectors of 256 bytes 0.08 instead of
 * 0.9 (measured). The module is written out here, instruction by instruction, so that it needs no compiler.
 */

interface Memory {
  readonly buffer: ArrayBuffer;
  /** In pages; at once the views of the buffer before are empty. */
  grow(by: number): number;
}

/** As much of it as is used here: the whole is declared among what only browsers have. */
declare const WebAssembly: {
  Memory: new (limits: { initial: number }) => Memory;
  Module: new (bytes: Uint8Array) => object;
  Instance: new (module: object, imports: { memory: { memory: Memory } }) => { exports: unknown };
};

const PAGE = 65_536;
/** More are compared in several calls: so much room is before the data. */
const BLOCK = 4_096;
/** The query stands first, then what a call asks for and what it answers, then the data. */
const QUERY = { at: 0, bytes: 4 * BLOCK };
const ROWS_AT = QUERY.bytes;
const ANSWERS_AT = ROWS_AT + 4 * BLOCK;
const DATA_AT = ANSWERS_AT + 4 * BLOCK;
const STEP = 16;

interface Loops {
  /** For each of `count` rows of `stride` bytes from `data` on: in how many bits it differs from the query. */
  distances(data: number, count: number, stride: number, answers: number): void;
  /** For each of `count` row numbers: the products of the row's bytes and the query's 16-bit numbers, added up. */
  products(rows: number, count: number, stride: number, answers: number, data: number): void;
}

/** Rows of bytes in memory of their own, numbered from 0 as they were added. */
export class ByteRows {
  size = 0;
  /** Of a row, with the zeros behind it. */
  private readonly stride: number;
  private readonly memory: Memory = new WebAssembly.Memory({ initial: 1 });
  private readonly loops: Loops;

  /** @param length of a row, in bytes */
  constructor(length: number) {
    this.stride = Math.ceil(length / STEP) * STEP;
    if (2 * this.stride > QUERY.bytes) throw new Error(`Rows of ${length} bytes are too long to be compared`);
    this.loops = new WebAssembly.Instance(loopsModule(), { memory: { memory: this.memory } }).exports as Loops;
  }

  add(row: Uint8Array | Int8Array): void {
    const at = DATA_AT + this.size++ * this.stride;
    const missing = at + this.stride - this.memory.buffer.byteLength;
    // in steps of an eighth, and in place: nothing is copied
    if (missing > 0) this.memory.grow(Math.ceil(Math.max(missing, this.memory.buffer.byteLength / 8) / PAGE));
    new Uint8Array(this.memory.buffer, at, row.length).set(new Uint8Array(row.buffer, row.byteOffset, row.length));
  }

  /** Leaves only these rows, which ascend, and numbers them anew. */
  keep(rows: readonly number[]): void {
    const { stride } = this;
    const bytes = new Uint8Array(this.memory.buffer, DATA_AT);
    for (const [at, row] of rows.entries()) {
      if (row !== at) bytes.copyWithin(at * stride, row * stride, (row + 1) * stride);
    }
    this.size = rows.length;
  }

  /** In how many bits each row differs from `query`. */
  distances(query: Uint8Array): Uint32Array {
    const { size, stride, memory } = this;
    new Uint8Array(memory.buffer, QUERY.at, stride).fill(0).set(query);
    const distances = new Uint32Array(size);
    for (let start = 0; start < size; start += BLOCK) {
      const count = Math.min(BLOCK, size - start);
      this.loops.distances(DATA_AT + start * stride, count, stride, ANSWERS_AT);
      distances.set(new Uint32Array(memory.buffer, ANSWERS_AT, count), start);
    }
    return distances;
  }

  /** For each of the rows the sum of products with `query`, whose sums must not exceed 31 bits. */
  products(query: Int16Array, rows: readonly number[]): Int32Array {
    const { stride, memory } = this;
    new Int16Array(memory.buffer, QUERY.at, stride).fill(0).set(query);
    const products = new Int32Array(rows.length);
    for (let start = 0; start < rows.length; start += BLOCK) {
      const some = rows.slice(start, start + BLOCK);
      new Uint32Array(memory.buffer, ROWS_AT, some.length).set(some);
      this.loops.products(ROWS_AT, some.length, stride, ANSWERS_AT, DATA_AT);
      products.set(new Int32Array(memory.buffer, ANSWERS_AT, some.length), start);
    }
    return products;
  }
}

let compiled: object | undefined;
function loopsModule(): object {
  compiled ??= new WebAssembly.Module(Uint8Array.from(encodeModule()));
  return compiled;
}

// https://webassembly.github.io/spec/core/binary/
const I32 = 0x7f;
const V128 = 0x7b;
const get = (local: number) => [0x20, local];
const set = (local: number) => [0x21, local];
const tee = (local: number) => [0x22, local];
const constant = (value: number) => [0x41, value];
const load = [0x28, 2, 0];
const store = [0x36, 2, 0];
const add = [0x6a];
const multiply = [0x6c];
const repeatWhileBelow = [0x49, 0x0d, 0];
const repeatWhileNotZero = [0x0d, 0];
const loop = (...body: number[][]) => [0x03, 0x40, ...body.flat(), 0x0b];
const step = (local: number, by: number) => [...get(local), ...constant(by), ...add, ...set(local)];
const zeros = [0xfd, 0x0c, ...Array.from({ length: STEP }, () => 0)];
const loadVector = (offset = 0) => [0xfd, 0x00, 0, offset];
const differing = [0xfd, 0x51]; /* v128.xor */
const bitCounts = [0xfd, 0x62]; /* i8x16.popcnt */
const pairsOfBytes = [0xfd, 0x7d]; /* i16x8.extadd_pairwise_i8x16_u */
const pairsOfShorts = [0xfd, 0x7f]; /* i32x4.extadd_pairwise_i16x8_u */
const addShorts = [0xfd, 0x8e, 0x01]; /* i16x8.add */
const addInts = [0xfd, 0xae, 0x01]; /* i32x4.add */
const firstAsShorts = [0xfd, 0x87, 0x01]; /* i16x8.extend_low_i8x16_s */
const lastAsShorts = [0xfd, 0x88, 0x01]; /* i16x8.extend_high_i8x16_s */
const dotProducts = [0xfd, 0xba, 0x01]; /* i32x4.dot_i16x8_s */
const lane = (vector: number, index: number) => [...get(vector), 0xfd, 0x1b, index]; /* i32x4.extract_lane */
const sumOfLanes = (vector: number) => [
  ...[...lane(vector, 0), ...lane(vector, 1), ...add],
  ...[...lane(vector, 2), ...add, ...lane(vector, 3), ...add],
];

/** Of a row that has been compared: its answer is kept, and the next one is begun where there is one. */
const next = (answers: number, count: number, answer: number[]) => [
  ...[...get(answers), ...answer, ...store],
  ...step(answers, 4),
  ...[...get(count), ...constant(0x7f /* -1 */), ...add, ...tee(count), ...repeatWhileNotZero],
];

/** Parameters: data, count, stride, answers; then: where in the query, the counts. */
function distancesBody(): number[] {
  const [data, count, stride, answers, query, counts] = [0, 1, 2, 3, 4, 5];
  const bits = [...get(data), ...loadVector(), ...get(query), ...loadVector(), ...differing, ...bitCounts];
  return loop(
    [...constant(0), ...set(query), ...zeros, ...set(counts)],
    loop(
      [...get(counts), ...bits, ...pairsOfBytes, ...addShorts, ...set(counts)],
      [...step(data, STEP), ...step(query, STEP)],
      [...get(query), ...get(stride), ...repeatWhileBelow],
    ),
    [...get(counts), ...pairsOfShorts, ...set(counts)],
    next(answers, count, sumOfLanes(counts)),
  );
}

/** Parameters: rows, count, stride, answers, data; then: where in the row, where in the query, the sums. */
function productsBody(): number[] {
  const [rows, count, stride, answers, data, at, query, sums] = [0, 1, 2, 3, 4, 5, 6, 7];
  const half = (asShorts: number[], offset: number) => [
    ...[...get(at), ...loadVector(), ...asShorts, ...get(query), ...loadVector(offset), ...dotProducts],
    ...[...get(sums), ...addInts, ...set(sums)],
  ];
  return loop(
    [...get(data), ...get(rows), ...load, ...get(stride), ...multiply, ...add, ...set(at)],
    [...constant(0), ...set(query), ...zeros, ...set(sums)],
    loop(
      [...half(firstAsShorts, 0), ...half(lastAsShorts, STEP)],
      [...step(at, STEP), ...step(query, 2 * STEP)],
      [...get(query), ...get(stride), ...get(stride), ...add, ...repeatWhileBelow],
    ),
    step(rows, 4),
    next(answers, count, sumOfLanes(sums)),
  );
}

function encodeModule(): number[] {
  const name = (text: string) => [text.length, ...Buffer.from(text)];
  const section = (id: number, ...items: number[][]) => {
    const content = [items.length, ...items.flat()];
    return [id, ...leb128(content.length), ...content];
  };
  const type = (parameters: number) => [0x60, parameters, ...Array.from({ length: parameters }, () => I32), 0];
  const code = (locals: number[], body: number[]) => {
    const content = [...locals, ...body, 0x0b];
    return [...leb128(content.length), ...content];
  };
  return [
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, type(4), type(5)),
    ...section(2, [...name("memory"), ...name("memory"), 2, 0, 1]),
    ...section(3, [0], [1]),
    ...section(7, [...name("distances"), 0, 0], [...name("products"), 0, 1]),
    ...section(10, code([2, 1, I32, 1, V128], distancesBody()), code([2, 2, I32, 1, V128], productsBody())),
  ];
}

/** An unsigned number below 2^14. */
const leb128 = (value: number): number[] => (value < 128 ? [value] : [(value & 127) | 128, value >>> 7]);

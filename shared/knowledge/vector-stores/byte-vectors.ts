/**
 * One byte per number: a hundred thousand 256-dimensional vectors take 26 MB, and what their codes find is ranked
 * without reading the vectors themselves. A cosine is off by some 0.002.
 */
import { ByteRows } from "./vector-scan.ts";

const FIRST_CAPACITY = 1024;
const LARGEST = 127;
const LARGEST_SHORT = 32_767;
const LARGEST_SUM = 2 ** 31 - 1;

/** Vectors in memory, numbered from 0 as they were added. */
export class ByteVectors {
  private readonly dimension: number;
  private readonly numbers: ByteRows;
  /** By vector: 1 / its length, as it is kept. */
  private scales: Float32Array;

  constructor(dimension: number) {
    this.dimension = dimension;
    this.numbers = new ByteRows(dimension);
    this.scales = new Float32Array(FIRST_CAPACITY);
  }

  add(vector: Float32Array): void {
    const { dimension } = this;
    const row = this.numbers.size;
    if (row === this.scales.length) this.grow();
    const numbers = new Int8Array(dimension);
    let largest = 0;
    for (let at = 0; at < dimension; at++) largest = Math.max(largest, Math.abs(vector[at] as number));
    const factor = largest === 0 ? 0 : LARGEST / largest;
    let squares = 0;
    for (let at = 0; at < dimension; at++) {
      const number = Math.round((vector[at] as number) * factor);
      numbers[at] = number;
      squares += number * number;
    }
    this.numbers.add(numbers);
    this.scales[row] = squares === 0 ? 0 : 1 / Math.sqrt(squares);
  }

  /** Leaves only these rows, which ascend, and numbers them anew. */
  keep(rows: readonly number[]): void {
    for (const [at, row] of rows.entries()) this.scales[at] = this.scales[row] as number;
    this.numbers.keep(rows);
  }

  /** The `count` of the rows whose vectors point most as the query does, and more where several do as much. */
  best(query: Float32Array, rows: readonly number[], count: number): number[] {
    if (rows.length <= count) return [...rows];
    const { numbers, scales } = this;
    const products = numbers.products(this.shorts(query), rows);
    const scores = new Float32Array(rows.length);
    for (let index = 0; index < rows.length; index++) {
      scores[index] = (products[index] as number) * (scales[rows[index] as number] as number);
    }
    const least = scores.toSorted()[rows.length - count] ?? 0;
    return rows.filter((_, index) => (scores[index] as number) >= least);
  }

  /** The query in numbers as large as the sums of products allow. */
  private shorts(query: Float32Array): Int16Array {
    const most = Math.min(LARGEST_SHORT, Math.floor(LARGEST_SUM / (LARGEST * this.dimension)));
    const largest = query.reduce((max, value) => Math.max(max, Math.abs(value)), 0);
    const factor = largest === 0 ? 0 : most / largest;
    return Int16Array.from(query, (value) => Math.round(value * factor));
  }

  private grow(): void {
    const old = this.scales;
    this.scales = new Float32Array(old.length * 2);
    this.scales.set(old);
  }
}

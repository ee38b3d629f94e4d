/**
 * One byte per number: a hundred thousand 256-dimensional vectors take 26 MB, and what their codes find is ranked
 * without reading the vectors themselves. A cosine is off by some 0.002.
 */

const FIRST_CAPACITY = 1024;
const LARGEST = 127;

/** Vectors in memory, numbered from 0 as they were added. */
export class ByteVectors {
  private readonly dimension: number;
  private numbers: Int8Array;
  /** By vector: 1 / its length, as it is kept. */
  private scales: Float32Array;
  private size = 0;

  constructor(dimension: number) {
    this.dimension = dimension;
    this.numbers = new Int8Array(FIRST_CAPACITY * dimension);
    this.scales = new Float32Array(FIRST_CAPACITY);
  }

  add(vector: Float32Array): void {
    if (this.size === this.scales.length) this.grow();
    const { numbers, dimension } = this;
    let largest = 0;
    for (let at = 0; at < dimension; at++) largest = Math.max(largest, Math.abs(vector[at] as number));
    const factor = largest === 0 ? 0 : LARGEST / largest;
    const start = this.size * dimension;
    let squares = 0;
    for (let at = 0; at < dimension; at++) {
      const number = Math.round((vector[at] as number) * factor);
      numbers[start + at] = number;
      squares += number * number;
    }
    this.scales[this.size++] = squares === 0 ? 0 : 1 / Math.sqrt(squares);
  }

  /** The `count` of the rows whose vectors point most as the query does, and more where several do as much. */
  best(query: Float32Array, rows: readonly number[], count: number): number[] {
    if (rows.length <= count) return [...rows];
    const { numbers, scales, dimension } = this;
    const scores = new Float32Array(rows.length);
    for (let index = 0; index < rows.length; index++) {
      const row = rows[index] as number;
      let sum = 0;
      for (let at = 0, from = row * dimension; at < dimension; at++) {
        sum += (query[at] as number) * (numbers[from + at] as number);
      }
      scores[index] = sum * (scales[row] as number);
    }
    const least = scores.toSorted()[rows.length - count] ?? 0;
    return rows.filter((_, index) => (scores[index] as number) >= least);
  }

  private grow(): void {
    const { numbers, scales } = this;
    this.numbers = new Int8Array(numbers.length * 2);
    this.numbers.set(numbers);
    this.scales = new Float32Array(scales.length * 2);
    this.scales.set(scales);
  }
}

/** Counters and histograms that are added to. They start with the process, and never go down. */
import type { Family, Labels } from "../../shared/platform/observability/exposition.ts";

export interface Registry {
  /** Declares a counter, and gives each of `known` the value 0: what never happened is told as that. */
  counter(name: string, help: string, known?: readonly Labels[]): CounterFamily;
  /** @param buckets upper bounds, growing; above the last one is infinity */
  histogram(name: string, help: string, buckets: readonly number[], known?: readonly Labels[]): HistogramFamily;
  families(): Family[];
}

export interface CounterFamily {
  /**
   * @param labels with the same names each time
   * @param amount not below 0
   */
  add(labels: Labels, amount: number): void;
}

export interface HistogramFamily {
  observe(labels: Labels, value: number): void;
}

interface Distribution {
  labels: Labels;
  /** By bucket, each without those below it; the last is above all bounds. */
  counts: number[];
  sum: number;
}

export function createRegistry(): Registry {
  const families = new Map<string, () => Family>();
  const declare = (name: string, read: () => Family): void => {
    if (families.has(name)) throw new Error(`The metric ${name} is declared twice`);
    families.set(name, read);
  };
  return {
    counter(name, help, known = []) {
      const series = new Map<string, { labels: Labels; value: number }>();
      const at = seriesIn(series, (labels) => ({ labels, value: 0 }));
      for (const labels of known) at(labels);
      declare(name, () => ({ name, type: "counter", help, samples: [...series.values()] }));
      return {
        add(labels, amount) {
          at(labels).value += amount;
        },
      };
    },
    histogram(name, help, buckets, known = []) {
      const series = new Map<string, Distribution>();
      const at = seriesIn(series, (labels) => ({ labels, counts: new Array(buckets.length + 1).fill(0), sum: 0 }));
      for (const labels of known) at(labels);
      const samples = () => [...series.values()].flatMap((each) => histogramSamples(each, buckets));
      declare(name, () => ({ name, type: "histogram", help, samples: samples() }));
      return {
        observe(labels, value) {
          const found = at(labels);
          const index = buckets.findIndex((bound) => value <= bound);
          const bucket = index === -1 ? buckets.length : index;
          found.counts[bucket] = (found.counts[bucket] ?? 0) + 1;
          found.sum += value;
        },
      };
    },
    families: () => [...families.values()].map((read) => read()),
  };
}

function seriesIn<Series>(series: Map<string, Series>, make: (labels: Labels) => Series): (labels: Labels) => Series {
  return (labels) => {
    const key = JSON.stringify(Object.entries(labels));
    let found = series.get(key);
    if (found === undefined) {
      found = make(labels);
      series.set(key, found);
    }
    return found;
  };
}

function histogramSamples({ labels, counts, sum }: Distribution, buckets: readonly number[]): Family["samples"] {
  let below = 0;
  const cumulative = counts.map((count, index) => {
    below += count;
    const le = index < buckets.length ? String(buckets[index]) : "+Inf";
    return { suffix: "_bucket" as const, labels: { ...labels, le }, value: below };
  });
  return [...cumulative, { suffix: "_sum", labels, value: sum }, { suffix: "_count", labels, value: below }];
}

/**
 * A strict reader of the Prometheus text format 0.0.4: what the format, or the conventions of its client libraries, do
 * not allow is an error. https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format
 */

export interface ReadSample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

export interface ReadFamily {
  type: "counter" | "gauge" | "histogram";
  help: string;
  samples: ReadSample[];
}

const HELP = /^# HELP ([a-zA-Z_:][a-zA-Z0-9_:]*) (.*)$/;
const TYPE = /^# TYPE ([a-zA-Z_:][a-zA-Z0-9_:]*) (counter|gauge|histogram)$/;
const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\["\\n])*)"(,|$)/y;
const NUMBER = /^(?:[+-]?(?:\d+(?:\.\d+)?(?:e[+-]?\d+)?|Inf)|NaN)$/;

/** @throws Error that names the line */
export function readPrometheusText(text: string): Map<string, ReadFamily> {
  if (!text.endsWith("\n")) throw new Error("The last line does not end");
  const families = new Map<string, ReadFamily>();
  const seen = new Set<string>();
  let current: { name: string; family: ReadFamily } | undefined;
  const lines = text.slice(0, -1).split("\n");
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index] ?? "";
    const fail = (why: string): never => {
      throw new Error(`${why}: line ${index + 1}: ${line}`);
    };
    const help = HELP.exec(line);
    if (help !== null) {
      const [, name = "", escaped = ""] = help;
      const type = TYPE.exec(lines[++index] ?? "");
      if (type?.[1] !== name) fail("HELP is not followed by the TYPE of the same name");
      if (families.has(name)) fail("A family in two pieces");
      if (/\\(?!\\|n)/.test(escaped.replaceAll("\\\\", ""))) fail("A wrong escape");
      current = { name, family: { type: type?.[2] as ReadFamily["type"], help: unescaped(escaped), samples: [] } };
      families.set(name, current.family);
      continue;
    }
    const found = SAMPLE.exec(line);
    if (found === null || current === undefined) return fail("Neither HELP nor a sample");
    const [, name = "", labelText, value = ""] = found;
    const suffix = name.slice(current.name.length);
    const suffixes = current.family.type === "histogram" ? ["_bucket", "_sum", "_count"] : [""];
    if (!name.startsWith(current.name) || !suffixes.includes(suffix)) fail(`Not of ${current.name}`);
    if (!NUMBER.test(value)) fail("Not a number");
    const labels = labelText === undefined ? {} : (readLabels(labelText) ?? fail("Wrong labels"));
    const key = JSON.stringify([name, Object.entries(labels).sort()]);
    if (seen.has(key)) fail("A sample twice");
    seen.add(key);
    current.family.samples.push({ name, labels, value: Number(value.replace("Inf", "Infinity")) });
  }
  for (const [name, family] of families) checkFamily(name, family);
  return families;
}

/** undefined where they are malformed. */
function readLabels(text: string): Record<string, string> | undefined {
  const labels: Record<string, string> = {};
  LABEL.lastIndex = 0;
  while (LABEL.lastIndex < text.length) {
    const [, name = "", value = ""] = LABEL.exec(text) ?? [];
    if (name === "" || Object.hasOwn(labels, name)) return undefined;
    labels[name] = unescaped(value);
  }
  return text === "" ? undefined : labels;
}

const unescaped = (text: string): string =>
  text.replace(/\\(.)/g, (_all, letter: string) => (letter === "n" ? "\n" : letter));

function checkFamily(name: string, { type, samples, help }: ReadFamily): void {
  const wrong = (why: string): never => {
    throw new Error(`${name}: ${why}`);
  };
  if (help === "") wrong("no help");
  if (samples.length === 0) wrong("no samples");
  if (type !== "gauge" && samples.some(({ value }) => !(value >= 0))) wrong("below 0");
  if ((type === "counter") !== name.endsWith("_total")) wrong("counters, and no others, end in _total");
  if (type !== "histogram") return;
  const series = Map.groupBy(samples, ({ labels: { le: _, ...rest } }) => JSON.stringify(rest));
  for (const parts of series.values()) {
    const buckets = parts.filter((part) => part.name === `${name}_bucket`);
    const bounds = buckets.map(({ labels }) => Number(labels["le"]?.replace("Inf", "Infinity")));
    const rises = (values: number[], atLeast: (a: number, b: number) => boolean): boolean =>
      values.every((value, index) => index === 0 || atLeast(value, values[index - 1] ?? 0));
    if (bounds.at(-1) !== Number.POSITIVE_INFINITY) wrong("no bucket +Inf");
    if (!rises(bounds, (a, b) => a > b)) wrong("bounds out of order");
    if (
      !rises(
        buckets.map(({ value }) => value),
        (a, b) => a >= b,
      )
    )
      wrong("buckets are not cumulative");
    const one = (suffix: string) => parts.filter((part) => part.name === name + suffix);
    if (one("_sum").length !== 1 || one("_count").length !== 1) wrong("no sum or no count");
    if (one("_count")[0]?.value !== buckets.at(-1)?.value) wrong("the count is not that of the bucket +Inf");
  }
}

/** The value of the one sample with this name and these labels; undefined where there is none. */
export function sampleOf(
  families: ReadonlyMap<string, ReadFamily>,
  name: string,
  labels: Record<string, string> = {},
): number | undefined {
  const samples = [...families.values()].flatMap((family) => family.samples);
  return samples.find(
    (sample) =>
      sample.name === name &&
      Object.keys(sample.labels).length === Object.keys(labels).length &&
      Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
  )?.value;
}

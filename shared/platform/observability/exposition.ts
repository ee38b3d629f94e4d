/**
 * Metrics in the text format that Prometheus reads, version 0.0.4.
 * https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format
 */

export const CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

export type Labels = Readonly<Record<string, string>>;

/** All that goes by one name. */
export interface Family {
  name: string;
  type: "counter" | "gauge" | "histogram";
  help: string;
  samples: readonly Sample[];
}

interface Sample {
  /** After the family's name: of a histogram's parts. */
  suffix?: "_bucket" | "_sum" | "_count";
  labels: Labels;
  value: number;
}

/** @param families each name once */
export function expositionText(families: readonly Family[]): string {
  return families.map(familyText).join("");
}

function familyText({ name, type, help, samples }: Family): string {
  // a family without a sample would say nothing
  if (samples.length === 0) return "";
  const lines = [`# HELP ${name} ${escapeHelp(help)}`, `# TYPE ${name} ${type}`];
  for (const { suffix = "", labels, value } of samples) lines.push(`${name}${suffix}${labelText(labels)} ${value}`);
  return `${lines.join("\n")}\n`;
}

function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeValue(value)}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

const escapeHelp = (text: string): string => text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
const escapeValue = (text: string): string => escapeHelp(text).replaceAll('"', '\\"');

/** Line and bar charts over logarithmic axes, as SVG files that documents show. */

const WIDTH = 760;
const ROW = 34;
const LABEL = 360;
const STYLE = "<style>text{font:13px sans-serif;fill:#222}.light{fill:#666}</style>";

const escaped = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
function open(height: number, title: string): string {
  const name = escaped(title);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${name}">`,
    `<rect width="${WIDTH}" height="${height}" fill="#fff"/>${STYLE}`,
    `<text x="10" y="22" font-weight="bold">${name}</text>`,
  ].join("");
}

/** A bar for each value, which is written at its end. */
export function bars(title: string, values: readonly { name: string; value: number }[]): string {
  const height = 50 + values.length * ROW;
  const most = Math.log10(Math.max(...values.map(({ value }) => value)));
  const drawn = values.map(({ name, value }, nth) => {
    const y = 40 + nth * ROW;
    const width = Math.max(2, (Math.log10(value) / most) * (WIDTH - LABEL - 80));
    return (
      `<text x="${LABEL - 8}" y="${y + 16}" text-anchor="end">${escaped(name)}</text>` +
      `<rect x="${LABEL}" y="${y}" width="${width.toFixed(1)}" height="22" fill="#2a6f97"/>` +
      `<text x="${(LABEL + width + 6).toFixed(1)}" y="${y + 16}">${written(value)}</text>`
    );
  });
  return `${open(height, title)}${drawn.join("")}</svg>\n`;
}

interface Line {
  name: string;
  color: string;
  points: readonly (readonly [x: number, y: number])[];
}

/** @param axes what is written below and beside */
export function lines(title: string, axes: readonly [x: string, y: string], all: readonly Line[]): string {
  const height = 380;
  const [left, right, top, bottom] = [80, WIDTH - 150, 50, height - 50];
  const xs = all.flatMap(({ points }) => points.map(([x]) => Math.log10(x)));
  const ys = all.flatMap(({ points }) => points.map(([, y]) => Math.log10(y)));
  const [x0, x1] = [Math.floor(Math.min(...xs)), Math.ceil(Math.max(...xs))];
  const [y0, y1] = [Math.floor(Math.min(...ys)), Math.ceil(Math.max(...ys))];
  const atX = (x: number) => left + ((Math.log10(x) - x0) / (x1 - x0)) * (right - left);
  const atY = (y: number) => bottom - ((Math.log10(y) - y0) / (y1 - y0)) * (bottom - top);
  const powers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, nth) => 10 ** (from + nth));
  const grid = [
    ...powers(x0, x1).map(
      (x) =>
        `<line x1="${atX(x)}" x2="${atX(x)}" y1="${top}" y2="${bottom}" stroke="#ddd"/>` +
        `<text x="${atX(x)}" y="${bottom + 18}" text-anchor="middle" class="light">${written(x)}</text>`,
    ),
    ...powers(y0, y1).map(
      (y) =>
        `<line x1="${left}" x2="${right}" y1="${atY(y)}" y2="${atY(y)}" stroke="#ddd"/>` +
        `<text x="${left - 6}" y="${atY(y) + 4}" text-anchor="end" class="light">${written(y)}</text>`,
    ),
  ];
  const drawn = all.map(({ name, color, points }) => {
    const path = points.map(([x, y]) => `${atX(x).toFixed(1)},${atY(y).toFixed(1)}`).join(" ");
    const [, lastY = 1] = points.at(-1) ?? [];
    return (
      `<polyline points="${path}" fill="none" stroke="${color}" stroke-width="2.5"/>` +
      `<text x="${right + 8}" y="${(atY(lastY) + 4).toFixed(1)}" style="fill:${color}">${escaped(name)}</text>`
    );
  });
  const names =
    `<text x="${(left + right) / 2}" y="${height - 10}" text-anchor="middle">${escaped(axes[0])}</text>` +
    `<text x="10" y="40" class="light">${escaped(axes[1])}</text>`;
  return `${open(height, title)}${grid.join("")}${drawn.join("")}${names}</svg>\n`;
}

/** With a word for thousands and more. */
function written(value: number): string {
  const units = [
    [1e9, " bn"],
    [1e6, " m"],
    [1e3, ",000"],
  ] as const;
  if (value < 10_000) return Number(value.toPrecision(2)).toLocaleString("en");
  for (const [size, unit] of units) if (value >= size) return `${Number((value / size).toPrecision(2))}${unit}`;
  return String(value);
}

/** Small charts. What they show stands beside them as text, too. */
import { number } from "./text.tsx";

export interface Sample {
  /** ms. */
  at: number;
  value: number;
}

const WIDTH = 600;
const HEIGHT = 80;

/** Values over time. */
export function Line({ samples, label }: { samples: readonly Sample[]; label: string }) {
  const first = samples[0]?.at ?? 0;
  const span = Math.max(1, (samples.at(-1)?.at ?? 0) - first);
  const top = Math.max(1, ...samples.map(({ value }) => value));
  const points = samples.map(({ at, value }) => {
    const x = ((at - first) / span) * WIDTH;
    return `${x.toFixed(1)},${(HEIGHT - (value / top) * (HEIGHT - 4)).toFixed(1)}`;
  });
  return (
    <svg class="line" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={label}>
      <polyline points={points.join(" ")} />
    </svg>
  );
}

/** How many of each. */
export function Bars({ counts, unit }: { counts: ReadonlyMap<string, number>; unit: string }) {
  const top = Math.max(1, ...counts.values());
  return (
    <ul class="bars">
      {[...counts].map(([name, count]) => (
        <li key={name}>
          <span>{name}</span>
          <meter min={0} max={top} value={count} aria-label={`${name}: ${count} ${unit}`} />
          <span class="figure">{number(count)}</span>
        </li>
      ))}
    </ul>
  );
}

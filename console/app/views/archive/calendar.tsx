/** The captures of a page, month by month: each day that has some leads to them. */
import type { SnapshotTimelineSnapshot } from "../../api/types.ts";
import { State, Time } from "../../parts/text.tsx";
import { hrefOf } from "../../router.ts";

const MONTH = new Intl.DateTimeFormat(undefined, { month: "long", year: "numeric" });
const DAY = new Intl.DateTimeFormat(undefined, { dateStyle: "full" });

export function Calendar({
  url,
  snapshots,
  shown,
}: {
  url: string;
  snapshots: readonly SnapshotTimelineSnapshot[];
  shown: SnapshotTimelineSnapshot;
}) {
  const days = Map.groupBy(snapshots, ({ captureTimestamp }) => dayOf(captureTimestamp));
  const months = Map.groupBy([...days.keys()].sort(), (day) => day.slice(0, 7));
  const open = dayOf(shown.captureTimestamp);
  return (
    <>
      <div class="months">
        {[...months.keys()].reverse().map((month) => (
          <Month key={month} month={month} days={days} url={url} open={open} />
        ))}
      </div>
      <ul class="captures">
        {(days.get(open) ?? []).map((snapshot) => (
          <li key={snapshot.snapshotId}>
            <a
              class="capture"
              href={hrefOf(["archive"], { url, at: String(snapshot.snapshotId) })}
              aria-current={snapshot.snapshotId === shown.snapshotId ? "true" : undefined}
            >
              <Time at={snapshot.captureTimestamp} />
            </a>{" "}
            <State of={String(snapshot.statusCode ?? "")} /> {snapshot.title ?? ""}
          </li>
        ))}
      </ul>
    </>
  );
}

interface MonthOptions {
  /** `2026-11` */
  month: string;
  days: ReadonlyMap<string, SnapshotTimelineSnapshot[]>;
  url: string;
  /** The day that is shown. */
  open: string;
}

function Month({ month, days, url, open }: MonthOptions) {
  const [year = 0, number = 1] = month.split("-").map(Number);
  const first = new Date(year, number - 1, 1);
  const length = new Date(year, number, 0).getDate();
  // weeks begin on Monday
  const before = (first.getDay() + 6) % 7;
  return (
    <div class="month">
      <h3>{MONTH.format(first)}</h3>
      <ol class="days">
        {Array.from({ length: before }, (_, blank) => (
          <li key={`blank ${month} ${String(blank)}`} aria-hidden="true" />
        ))}
        {Array.from({ length }, (_, index) => {
          const day = `${month}-${String(index + 1).padStart(2, "0")}`;
          const captures = days.get(day);
          const last = captures?.at(-1);
          return (
            <li key={day}>
              {last === undefined ? (
                <span class="faint">{index + 1}</span>
              ) : (
                <a
                  class="day"
                  href={hrefOf(["archive"], { url, at: String(last.snapshotId) })}
                  aria-current={day === open ? "date" : undefined}
                  aria-label={`${DAY.format(new Date(`${day}T00:00`))}: ${captures?.length} captures`}
                >
                  {index + 1}
                </a>
              )}
            </li>
          );
        })}
      </ol>
    </div>
  );
}

/** In the reader's zone. */
function dayOf(at: string): string {
  const date = new Date(at);
  const two = (value: number): string => String(value).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

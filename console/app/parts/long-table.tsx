/**
 * A list of any length as rows: those alone that are in sight are in the page. What is not there is told to screen
 * readers by `aria-rowcount` and `aria-rowindex`, has its room in the scrollbar, and is found by the field above.
 */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { BlockList } from "../lists/block-list.ts";
import { Find } from "./find.tsx";
import { Loading } from "./page.tsx";
import type { Column } from "./table.tsx";
import { number } from "./text.tsx";

export interface LongColumn<T> extends Column<T> {
  /** Of the width, in percent. */
  width: number;
}

/** The height of a row, as `.long tbody tr` has it. */
const ROW_REM = 3.75;
/** Rows above and below those in sight: who goes by the Tab key finds the next one there. */
const BEYOND = 8;
/** Browsers lay out no more than some 17 million pixels; above this, a step of the scrollbar is worth more rows. */
const TALLEST_PX = 8_000_000;

export function LongTable<T>({
  rows,
  columns,
  label,
  textOf,
}: {
  rows: BlockList<T>;
  columns: readonly LongColumn<T>[];
  /** What the rows are: `Pages`. */
  label: string;
  /** What of a row is looked through. */
  textOf(item: T): string;
}) {
  const region = useRef<HTMLElement>(null);
  const isFocusInside = useRef(false);
  const rowPx = useRowHeight();
  const [sight, setSight] = useState<Sight>({ first: 0, viewPx: 0 });
  const [found, setFound] = useState<number>();
  const { count } = rows;
  const { scale, heightPx } = scrollOf(count * rowPx, sight.viewPx);
  const inSight = Math.ceil(sight.viewPx / rowPx);
  const from = Math.max(0, Math.min(sight.first, count - inSight) - BEYOND);
  const to = Math.min(count, sight.first + inSight + 1 + BEYOND);
  useEffect(() => rows.want(from, to), [rows, from, to]);
  const look = (): void => {
    const { scrollTop = 0, clientHeight = 0 } = region.current ?? {};
    const first = Math.floor((scrollTop * scale) / rowPx);
    setSight((before) =>
      before.first === first && before.viewPx === clientHeight ? before : { first, viewPx: clientHeight },
    );
  };
  useEffect(() => {
    look();
    addEventListener("resize", look);
    return () => removeEventListener("resize", look);
  });
  useLayoutEffect(() => {
    // what scrolls takes the focus, so that the keys scroll it
    if (region.current !== null) region.current.tabIndex = 0;
    // the row that had the focus is out of sight and gone: the arrow keys go on from the list
    const isLost = isFocusInside.current && document.activeElement === document.body;
    if (isLost) region.current?.focus({ preventScroll: true });
  });
  const show = (index: number): void => {
    region.current?.scrollTo(0, (Math.max(0, index - 1) * rowPx) / scale);
    setFound(index);
  };
  if (!rows.isCounted) return <Loading />;
  const lastInSight = Math.min(count, sight.first + inSight);
  const above = Math.max(0, (sight.first * rowPx) / scale - (sight.first - from) * rowPx);
  const below = Math.max(0, heightPx - above - (to - from) * rowPx);
  return (
    <>
      <Find rows={rows} from={found === undefined ? 0 : found + 1} textOf={textOf} found={show} label={label} />
      <section
        class="long"
        ref={region}
        aria-label={label}
        onScroll={look}
        onFocusIn={() => {
          isFocusInside.current = true;
        }}
        onFocusOut={({ relatedTarget }) => {
          if (relatedTarget !== null) isFocusInside.current = false;
        }}
      >
        <div style={{ paddingTop: `${above}px`, paddingBottom: `${below}px` }}>
          <table aria-rowcount={count + 1}>
            <colgroup>
              {columns.map(({ head, width }) => (
                <col key={head} width={`${width}%`} />
              ))}
            </colgroup>
            <thead>
              <tr aria-rowindex={1}>
                {columns.map(({ head, isFigure }) => (
                  <th key={head} scope="col" class={isFigure ? "figure" : undefined}>
                    {head}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {Array.from({ length: Math.max(0, to - from) }, (_, at) => from + at).map((index) => (
                <Row key={index} index={index} item={rows.at(index)} columns={columns} isFound={index === found} />
              ))}
            </tbody>
          </table>
        </div>
      </section>
      <p class="faint">
        {rows.reached !== undefined && from >= rows.reached
          ? `Read as far as row ${number(rows.reached)} of ${number(count)}`
          : `Rows ${number(Math.min(count, sight.first + 1))} to ${number(lastInSight)} of ${number(count)}`}
      </p>
    </>
  );
}

interface Sight {
  /** The topmost row in sight. */
  first: number;
  viewPx: number;
}

/** How high the list is, and how many of its pixels one of the scrollbar is worth. */
function scrollOf(tallPx: number, viewPx: number): { scale: number; heightPx: number } {
  if (tallPx <= TALLEST_PX) return { scale: 1, heightPx: tallPx };
  return { scale: (tallPx - viewPx) / (TALLEST_PX - viewPx), heightPx: TALLEST_PX };
}

interface RowOptions<T> {
  index: number;
  item: T | undefined;
  columns: readonly LongColumn<T>[];
  isFound: boolean;
}

function Row<T>({ index, item, columns, isFound }: RowOptions<T>) {
  const row = useRef<HTMLTableRowElement>(null);
  useEffect(() => {
    if (isFound && item !== undefined) row.current?.focus({ preventScroll: true });
  }, [isFound, item]);
  const marks = isFound ? ({ tabIndex: -1, "aria-current": "true" } as const) : {};
  return (
    <tr ref={row} aria-rowindex={index + 2} {...marks}>
      {item === undefined ? (
        <td colSpan={columns.length} class="faint">
          …
        </td>
      ) : (
        columns.map(({ head, cell, isFigure }) => (
          <td key={head} class={isFigure ? "figure" : undefined}>
            {cell(item)}
          </td>
        ))
      )}
    </tr>
  );
}

/** In px: it goes with the size of text that the reader has chosen. */
function useRowHeight(): number {
  const [height] = useState(() => ROW_REM * Number.parseFloat(getComputedStyle(document.documentElement).fontSize));
  return height;
}

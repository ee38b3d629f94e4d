/** A list as rows. */
import type { ComponentChildren } from "preact";

export interface Column<T> {
  head: string;
  cell(item: T): ComponentChildren;
  isFigure?: boolean;
}

export function Table<T>({
  items,
  columns,
  keyOf,
}: {
  items: readonly T[];
  columns: readonly Column<T>[];
  keyOf(item: T): string;
}) {
  return (
    <div class="scroll">
      <table class="rows">
        <thead>
          <tr>
            {columns.map(({ head, isFigure }) => (
              <th key={head} scope="col" class={isFigure ? "figure" : undefined}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {items.map((item) => (
            <tr key={keyOf(item)}>
              {columns.map(({ head, cell, isFigure }) => (
                <td key={head} class={isFigure ? "figure" : undefined}>
                  {cell(item)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** A form made of the schema of a request: what matters first, and everything else behind "More options". */
import { useState } from "preact/hooks";
import { useAction } from "../api/use-api.ts";
import { Fault } from "../parts/page.tsx";
import { Fields, type Words } from "./fields.tsx";
import { attempt, type Filled, filledFrom, type ObjectSchema, requestOf } from "./schema.ts";

export function SchemaForm({
  schema,
  first,
  without = [],
  start = {},
  words = {},
  label,
  send,
}: {
  schema: ObjectSchema;
  /** Names of the fields that stand above the others. */
  first: readonly string[];
  /** Names of fields that are not asked for. */
  without?: readonly string[];
  /** What stands in the fields at the beginning, as a request. */
  start?: Readonly<Record<string, unknown>>;
  /** Of the first fields. */
  words?: Words;
  /** Of the button. */
  label: string;
  send(request: Record<string, unknown>): Promise<void>;
}) {
  const [filled, setFilled] = useState<Filled>(() => filledFrom(schema, start));
  const made = attempt(() => requestOf(schema, filled));
  const sending = useAction(async () => {
    if (made.value !== undefined) await send(made.value);
  });
  const fill = (name: string, text: string): void => setFilled((before) => ({ ...before, [name]: text }));
  const others = Object.keys(schema.properties).filter((name) => !first.includes(name));
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void sending.run();
      }}
    >
      <Fields schema={schema} filled={filled} fill={fill} without={others} words={words} />
      <details>
        <summary>More options</summary>
        <Fields schema={schema} filled={filled} fill={fill} without={[...first, ...without]} />
      </details>
      {made.fault === undefined ? null : (
        <p class="fault" role="alert">
          {made.fault}
        </p>
      )}
      <Fault fault={sending.fault} />
      <button type="submit" class="primary" disabled={sending.isRunning || made.fault !== undefined}>
        {label}
      </button>
    </form>
  );
}

/** A form that asks for a few things and sends them. */
import type { ComponentChildren } from "preact";
import { useId, useState } from "preact/hooks";
import { useAction } from "../api/use-api.ts";
import { Fault } from "./page.tsx";

export interface Asked {
  name: string;
  label: string;
  hint?: string;
  /** Of these one; a line of text where not given. */
  choices?: readonly { value: string; label: string }[];
  isRequired?: boolean;
  type?: "text" | "number" | "date";
  start?: string;
}

export type Given = Readonly<Record<string, string>>;

export function SmallForm({
  fields,
  label,
  send,
  children,
}: {
  fields: readonly Asked[];
  /** Of the button. */
  label: string;
  send(given: Given): Promise<void>;
  children?: ComponentChildren;
}) {
  const start = Object.fromEntries(fields.map((field) => [field.name, field.start ?? field.choices?.[0]?.value ?? ""]));
  const [given, setGiven] = useState<Given>(start);
  const sending = useAction(async () => {
    await send(given);
    setGiven(start);
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void sending.run();
      }}
    >
      <div class="fields">
        {fields.map((field) => (
          <Field
            key={field.name}
            field={field}
            text={given[field.name] ?? ""}
            fill={(text) => setGiven((before) => ({ ...before, [field.name]: text }))}
          />
        ))}
      </div>
      {children}
      <Fault fault={sending.fault} />
      <button type="submit" class="primary" disabled={sending.isRunning}>
        {label}
      </button>
    </form>
  );
}

function Field({ field, text, fill }: { field: Asked; text: string; fill(text: string): void }) {
  const { label, hint, choices, isRequired = false, type = "text" } = field;
  const id = useId();
  const described = hint === undefined ? {} : { "aria-describedby": `${id}-hint` };
  const common = { id, value: text, required: isRequired, autoComplete: "off", ...described };
  const onInput = ({ currentTarget }: { currentTarget: HTMLInputElement }): void => fill(currentTarget.value);
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {choices === undefined ? (
        <TypedInput type={type} {...common} onInput={onInput} />
      ) : (
        <select {...common} onChange={({ currentTarget }) => fill(currentTarget.value)}>
          {choices.map((choice) => (
            <option key={choice.value} value={choice.value}>
              {choice.label}
            </option>
          ))}
        </select>
      )}
      {hint === undefined ? null : (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}

interface TypedInputOptions {
  type: "text" | "number" | "date";
  id: string;
  value: string;
  required: boolean;
  autoComplete: string;
  onInput(event: { currentTarget: HTMLInputElement }): void;
}

function TypedInput({ type, ...rest }: TypedInputOptions) {
  if (type === "number") return <input type="number" step="any" {...rest} />;
  if (type === "date") return <input type="date" {...rest} />;
  return <input type="text" {...rest} />;
}

/** Without what was left empty. */
export function filledIn(given: Given): Record<string, string> {
  return Object.fromEntries(Object.entries(given).filter(([, text]) => text.trim() !== ""));
}

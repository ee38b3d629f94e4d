/** The fields of a request, made of its schema. */
import { useId } from "preact/hooks";
import { type Filled, kindOf, type ObjectSchema, type Schema } from "./schema.ts";

interface FieldsOptions {
  schema: ObjectSchema;
  filled: Filled;
  fill(path: string, text: string): void;
  /** Fields that stand elsewhere. */
  without?: readonly string[];
  prefix?: string;
  /** In place of their names. */
  words?: Words;
}

/** What fields are called, and what to write there, by their names. */
export type Words = Readonly<Record<string, { label: string; hint?: string }>>;

export function Fields({ schema, filled, fill, without = [], prefix = "", words = {} }: FieldsOptions) {
  const shown = Object.entries(schema.properties).filter(([name]) => !without.includes(name));
  return (
    <div class="fields">
      {shown.map(([name, field]) => {
        const path = `${prefix}${name}`;
        if (kindOf(field) === "group") {
          return (
            <fieldset key={path}>
              <legend>{name}</legend>
              <Fields
                schema={{ ...field, properties: field.properties ?? {} }}
                filled={filled}
                fill={fill}
                prefix={`${path}.`}
              />
            </fieldset>
          );
        }
        return (
          <Field
            key={path}
            name={words[path]?.label ?? name}
            hint={words[path]?.hint}
            schema={field}
            text={filled[path] ?? ""}
            isRequired={prefix === "" && (schema.required ?? []).includes(name)}
            fill={(text) => fill(path, text)}
          />
        );
      })}
    </div>
  );
}

interface FieldOptions {
  name: string;
  hint: string | undefined;
  schema: Schema;
  text: string;
  isRequired: boolean;
  fill(text: string): void;
}

function Field({ name, hint: own, schema, text, isRequired, fill }: FieldOptions) {
  const id = useId();
  const hint = own ?? hintOf(schema);
  return (
    <div class="field">
      <label for={id}>{name}</label>
      <Input id={id} hintId={`${id}-hint`} schema={schema} text={text} isRequired={isRequired} fill={fill} />
      <p class="hint" id={`${id}-hint`}>
        {hint}
      </p>
    </div>
  );
}

interface InputOptions extends Omit<FieldOptions, "name" | "hint"> {
  id: string;
  hintId: string;
}

function Input({ id, hintId, schema, text, isRequired, fill }: InputOptions) {
  const kind = kindOf(schema);
  const common = { id, "aria-describedby": hintId, value: text, required: isRequired };
  if (kind === "choice" || kind === "flag") {
    const choices = kind === "flag" ? ["true", "false"] : (schema.enum ?? []);
    return (
      <select {...common} onChange={({ currentTarget }) => fill(currentTarget.value)}>
        <option value="">{schema.default === undefined ? "not given" : `default: ${String(schema.default)}`}</option>
        {choices.map((choice) => (
          <option key={choice}>{choice}</option>
        ))}
      </select>
    );
  }
  if (kind === "lines" || kind === "json") {
    return (
      <textarea {...common} rows={2} spellcheck={false} onInput={({ currentTarget }) => fill(currentTarget.value)} />
    );
  }
  const { minimum, maximum, default: standard } = schema;
  const typed = {
    ...common,
    placeholder: standard === undefined || standard === null ? "" : String(standard),
    autoComplete: "off",
    onInput: ({ currentTarget }: { currentTarget: HTMLInputElement }) => fill(currentTarget.value),
  };
  if (kind === "number") return <input {...typed} type="number" step="any" min={minimum} max={maximum} />;
  return <input {...typed} type="text" spellcheck={false} />;
}

function hintOf(schema: Schema): string {
  const { description, minimum, maximum, default: standard } = schema;
  const kind = kindOf(schema);
  const said = [
    description,
    kind === "lines" ? "One a line" : undefined,
    kind === "json" ? "JSON" : undefined,
    minimum !== undefined && maximum !== undefined ? `${minimum} to ${maximum}` : undefined,
    standard === undefined || standard === null ? undefined : `Default: ${JSON.stringify(standard)}`,
  ];
  return said.filter((each) => each !== undefined).join(". ");
}

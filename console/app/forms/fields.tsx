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
}

export function Fields({ schema, filled, fill, without = [], prefix = "" }: FieldsOptions) {
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
          <Field key={path} name={name} schema={field} text={filled[path] ?? ""} fill={(text) => fill(path, text)} />
        );
      })}
    </div>
  );
}

function Field({ name, schema, text, fill }: { name: string; schema: Schema; text: string; fill(text: string): void }) {
  const id = useId();
  const hint = hintOf(schema);
  return (
    <div class="field">
      <label for={id}>{name}</label>
      <Input id={id} hintId={`${id}-hint`} schema={schema} text={text} fill={fill} />
      <p class="hint" id={`${id}-hint`}>
        {hint}
      </p>
    </div>
  );
}

interface InputOptions {
  id: string;
  hintId: string;
  schema: Schema;
  text: string;
  fill(text: string): void;
}

function Input({ id, hintId, schema, text, fill }: InputOptions) {
  const kind = kindOf(schema);
  const common = { id, "aria-describedby": hintId, value: text };
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

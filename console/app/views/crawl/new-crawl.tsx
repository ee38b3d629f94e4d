/** One field for an address and a button; behind "More options" everything that the API takes. */
import schemas from "strandline:request-schemas";
import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import { useAction } from "../../api/use-api.ts";
import { equalCalls } from "../../forms/equal-calls.ts";
import { Fields } from "../../forms/fields.tsx";
import { attempt, type Filled, requestOf } from "../../forms/schema.ts";
import { Copyable } from "../../parts/copy.tsx";
import { Fault, View } from "../../parts/page.tsx";
import { goTo, type Place } from "../../router.ts";
import { isKind, KINDS, type Kind, type KindName } from "./kinds.ts";
import { Scraped } from "./scraped.tsx";

export function NewCrawl({ place: { query } }: { place: Place }) {
  const asked = query.get("kind");
  const [kind, setKind] = useState<KindName>(isKind(asked) ? asked : "deep");
  const [address, setAddress] = useState(query.get("url") ?? "");
  const [filled, setFilled] = useState<Filled>({});
  const [answer, setAnswer] = useState<unknown>();
  const { path, urlField, title, does, command, ended }: Kind = KINDS[kind];
  const schema = schemas[kind];
  const made = attempt(() => {
    const urls = address.split(/\s+/).filter((each) => each !== "");
    const target = urlField === "url" ? (urls[0] ?? "") : urls;
    return { [urlField]: target, ...requestOf(schema, filled) };
  });
  const starting = useAction(async () => {
    if (made.value === undefined) return;
    setAnswer(undefined);
    const answered = await call(path, { body: made.value });
    if (ended === undefined) setAnswer(answered);
    else ended(answered, goTo);
  });
  return (
    <View title="New crawl">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void starting.run();
        }}
      >
        <div class="panel">
          <label class="wide">
            {urlField === "url" ? "Address" : "Addresses, divided by blanks"}
            <input
              type="text"
              inputMode="url"
              placeholder="https://example.org/"
              value={address}
              onInput={({ currentTarget }) => setAddress(currentTarget.value)}
              required
            />
          </label>
          <fieldset class="choices">
            <legend>What to do</legend>
            {Object.entries(KINDS).map(([name, each]) => (
              <label class="check" key={name}>
                <input
                  type="radio"
                  name="kind"
                  checked={name === kind}
                  onChange={() => {
                    if (isKind(name)) setKind(name);
                    setFilled({});
                    setAnswer(undefined);
                  }}
                />
                {each.title}
              </label>
            ))}
          </fieldset>
          <p class="hint">{does}</p>
          <Fault fault={starting.fault} />
          {made.fault === undefined ? null : (
            <p class="fault" role="alert">
              {made.fault}
            </p>
          )}
          <button type="submit" class="primary" disabled={starting.isRunning || made.fault !== undefined}>
            {title}
          </button>
        </div>
        <details class="panel">
          <summary>More options</summary>
          <p class="hint">
            What is left empty has its default. The names are those of <code>POST {path}</code>.
          </p>
          <Fields
            key={kind}
            schema={schema}
            filled={filled}
            fill={(name, text) => setFilled((before) => ({ ...before, [name]: text }))}
            without={["url", "urls", "seed_urls"]}
          />
        </details>
      </form>
      {answer === undefined ? null : <Scraped answer={answer} />}
      {made.value === undefined ? null : (
        <section class="panel">
          <h2>The same without the console</h2>
          {equalCalls(path, made.value, command(address, filled)).map((each) => (
            <Copyable key={each.name} {...each} />
          ))}
        </section>
      )}
    </View>
  );
}

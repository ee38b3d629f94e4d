/** The first thing a visitor sees: the console has no rights of its own, only those of the key that it is given. */
import { useState } from "preact/hooks";
import { call } from "../api/client.ts";
import { signIn } from "../api/session.ts";
import { useAction } from "../api/use-api.ts";
import { Fault, View } from "../parts/page.tsx";

export function KeyEntry() {
  const [key, setKey] = useState("");
  const [keep, setKeep] = useState(true);
  const entering = useAction(async () => {
    await call("/api/v1/api-keys/self", { key: key.trim() });
    signIn(key.trim(), keep);
  });
  return (
    <View title="Strandline">
      <form
        class="panel narrow"
        onSubmit={(event) => {
          event.preventDefault();
          void entering.run();
        }}
      >
        <label>
          API key
          <input
            type="password"
            value={key}
            onInput={({ currentTarget }) => setKey(currentTarget.value)}
            autoComplete="off"
            spellcheck={false}
            required
          />
        </label>
        <p class="hint">
          On your own machine <code>npm start</code> prints it the first time and keeps it in{" "}
          <code>.strandline/credentials.json</code>. A key of another Strandline comes from whoever runs it.
        </p>
        <label class="check">
          <input type="checkbox" checked={keep} onChange={({ currentTarget }) => setKeep(currentTarget.checked)} />
          Keep it until this tab is closed
        </label>
        <Fault fault={entering.fault} />
        <button type="submit" class="primary" disabled={entering.isRunning}>
          Open the console
        </button>
      </form>
    </View>
  );
}

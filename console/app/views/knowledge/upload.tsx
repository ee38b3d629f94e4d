/** Files of the reader's own, dropped or chosen. */
import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import { faultOf } from "../../api/use-api.ts";
import { Panel } from "../../parts/page.tsx";

/** Of one request: the rest of its 6 MB is what base64 adds, and the names. */
const MOST_BYTES = 4_000_000;

interface Sent {
  name: string;
  outcome: string;
}

export function Upload({ collection, done }: { collection: string; done(): void }) {
  const [sent, setSent] = useState<readonly Sent[]>([]);
  const [isOver, setOver] = useState(false);
  const take = async (files: readonly File[]): Promise<void> => {
    for (const file of files) {
      const outcome = await send(file, collection);
      setSent((before) => [...before, { name: file.name, outcome }]);
    }
    done();
  };
  return (
    <Panel title="Put files in">
      {/* dropping is a shorter way to what the field does by itself */}
      <label
        class={isOver ? "drop over" : "drop"}
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={(event) => {
          event.preventDefault();
          setOver(false);
          void take([...(event.dataTransfer?.files ?? [])]);
        }}
      >
        Markdown, HTML, text, PDF or DOCX, dropped here or chosen
        <input
          type="file"
          multiple
          accept=".md,.markdown,.html,.htm,.txt,.pdf,.docx"
          onChange={({ currentTarget }) => {
            const files = [...(currentTarget.files ?? [])];
            currentTarget.value = "";
            void take(files);
          }}
        />
      </label>
      <ul aria-live="polite">
        {sent.map(({ name, outcome }, at) => (
          <li key={`${String(at)} ${name}`}>
            {name}: {outcome}
          </li>
        ))}
      </ul>
    </Panel>
  );
}

async function send(file: File, collection: string): Promise<string> {
  if (file.size > MOST_BYTES) return "too large for the console: over 4 MB. The CLI uploads larger ones";
  try {
    const body = {
      filename: file.name,
      content_base64: base64(new Uint8Array(await file.arrayBuffer())),
      ...(collection === "" ? {} : { collection_id: collection }),
    };
    const { outcome, chunks } = await call<{ outcome: string; chunks: number }>("/api/v1/documents", { body });
    return `${outcome}, ${chunks} passages`;
  } catch (error) {
    const { message, code } = faultOf(error);
    return `${message} (${code})`;
  }
}

const STEP = 32_768;

function base64(content: Uint8Array): string {
  let text = "";
  for (let at = 0; at < content.length; at += STEP) text += String.fromCharCode(...content.subarray(at, at + STEP));
  return btoa(text);
}

/** Files of the reader's own, dropped or chosen. */
import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import { putFile } from "../../api/put-file.ts";
import { faultOf } from "../../api/use-api.ts";
import { base64 } from "../../parts/base64.ts";
import { Panel } from "../../parts/page.tsx";

/** Of one request: the rest of its 6 MB is what base64 adds, and the names. */
const MOST_BYTES = 4_000_000;
/** Of one file, as the API reads it. */
const LARGEST_BYTES = 25 * 1024 * 1024;

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
  if (file.size > LARGEST_BYTES) return "too large: 25 MB are read of a file. Divide it";
  try {
    const content = new Uint8Array(await file.arrayBuffer());
    const body = {
      filename: file.name,
      ...(file.size > MOST_BYTES ? { upload_id: await putFile(content) } : { content_base64: base64(content) }),
      ...(collection === "" ? {} : { collection_id: collection }),
    };
    const { outcome, chunks } = await call<{ outcome: string; chunks: number }>("/api/v1/documents", { body });
    return `${outcome}, ${chunks} passages`;
  } catch (error) {
    const { message, code } = faultOf(error);
    return `${message} (${code})`;
  }
}

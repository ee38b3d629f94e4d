/** A text to be taken along. */
import { useState } from "preact/hooks";

export function Copyable({ name, text }: { name: string; text: string }) {
  const [said, say] = useState("");
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      say("Copied");
    } catch {
      say("The browser refuses: select the text instead");
    }
  };
  return (
    <figure class="copyable">
      <figcaption>
        {name}
        <button type="button" onClick={() => void copy()} aria-label={`Copy as ${name}`}>
          Copy
        </button>
        <span role="status">{said}</span>
      </figcaption>
      {/* a field and no text: it takes the focus, and scrolls by the arrow keys */}
      <textarea readOnly value={text} rows={text.split("\n").length} aria-label={name} spellcheck={false} />
    </figure>
  );
}

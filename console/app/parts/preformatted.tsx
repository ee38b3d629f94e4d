import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

/** Text as it was written. It may scroll, so it takes the focus, and the keys scroll it. */
export function Preformatted({ class: name, children }: { class?: string; children: ComponentChildren }) {
  const text = useRef<HTMLPreElement>(null);
  useLayoutEffect(() => {
    if (text.current !== null) text.current.tabIndex = 0;
  }, []);
  return (
    <pre ref={text} class={name}>
      {children}
    </pre>
  );
}

/** A step that cannot be taken back asks first, and says what it will do. */
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { useAction } from "../api/use-api.ts";
import { Fault } from "./page.tsx";

export function Confirm({
  label,
  question,
  children,
  act,
}: {
  /** Of the button that opens it, and of the one that does it. */
  label: string;
  question: string;
  /** What will happen. */
  children: ComponentChildren;
  act(): Promise<void>;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [isOpen, setOpen] = useState(false);
  const title = useId();
  const action = useAction(async () => {
    await act();
    setOpen(false);
  });
  useEffect(() => {
    if (isOpen) dialog.current?.showModal();
    else dialog.current?.close();
  }, [isOpen]);
  return (
    <>
      <button type="button" class="danger" onClick={() => setOpen(true)}>
        {label}
      </button>
      <dialog ref={dialog} aria-labelledby={title} onClose={() => setOpen(false)}>
        <h2 id={title}>{question}</h2>
        <div>{children}</div>
        <Fault fault={action.fault} />
        <div class="actions">
          <button type="button" onClick={() => setOpen(false)}>
            Leave it
          </button>
          <button type="button" class="danger" onClick={() => void action.run()} disabled={action.isRunning}>
            {label}
          </button>
        </div>
      </dialog>
    </>
  );
}

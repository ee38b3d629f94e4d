/** A button that asks the API for something, and shows what it answered where it refuses. */
import type { ComponentChildren } from "preact";
import { useAction } from "../api/use-api.ts";
import { Fault } from "./page.tsx";

export function Does({
  act,
  label,
  children,
}: {
  act(): Promise<void>;
  /** For whom the words alone do not say what of: `Test the webhook to https://…`. */
  label?: string;
  children: ComponentChildren;
}) {
  const action = useAction(act);
  return (
    <>
      <button type="button" onClick={() => void action.run()} disabled={action.isRunning} aria-label={label}>
        {children}
      </button>
      <Fault fault={action.fault} />
    </>
  );
}

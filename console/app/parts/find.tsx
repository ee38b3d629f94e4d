/** Finds a row of a long list, of which the browser's own search sees but the part that is in the page. */
import { useEffect, useRef, useState } from "preact/hooks";
import { ApiFault } from "../api/client.ts";
import type { BlockList } from "../lists/block-list.ts";
import { number } from "./text.tsx";

export function Find<T>({
  rows,
  from,
  label,
  textOf,
  found,
}: {
  rows: BlockList<T>;
  /** Where the next row is looked for. */
  from: number;
  /** What the rows are. */
  label: string;
  textOf(item: T): string;
  found(index: number): void;
}) {
  const [text, setText] = useState("");
  const [said, say] = useState("");
  const looking = useRef<AbortController | undefined>(undefined);
  const [isLooking, setLooking] = useState(false);
  useEffect(() => () => looking.current?.abort(), []);
  const seek = async (): Promise<void> => {
    const controller = new AbortController();
    looking.current = controller;
    setLooking(true);
    const word = text.toLocaleLowerCase();
    const matches = (item: T): boolean => textOf(item).toLocaleLowerCase().includes(word);
    const passed = (count: number): void => say(`Looked through ${number(count)} rows`);
    try {
      const start = from < rows.count ? from : 0;
      const index = await rows.seek(matches, start, controller.signal, passed);
      if (index !== undefined) found(index);
      say(index === undefined ? "No row from here on holds it" : `Row ${number(index + 1)}`);
    } catch (error) {
      if (!controller.signal.aborted && !(error instanceof ApiFault)) throw error;
      say(error instanceof ApiFault ? error.message : "Stopped");
    } finally {
      setLooking(false);
    }
  };
  return (
    <form
      class="find"
      onSubmit={(event) => {
        event.preventDefault();
        if (isLooking) looking.current?.abort();
        else void seek();
      }}
    >
      <label class="inline">
        Find in {label.toLocaleLowerCase()}
        <input type="search" value={text} onInput={({ currentTarget }) => setText(currentTarget.value)} required />
      </label>
      <button type="submit">{isLooking ? "Stop" : "Find next"}</button>
      <span role="status" class="faint">
        {said}
      </span>
    </form>
  );
}

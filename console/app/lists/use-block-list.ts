import { useEffect, useReducer, useState } from "preact/hooks";
import type { ApiFault } from "../api/client.ts";
import { faultOf } from "../api/use-api.ts";
import { BlockList, type Listing } from "./block-list.ts";

export interface LongList<T> {
  rows: BlockList<T>;
  fault: ApiFault | undefined;
  /** Reads it anew from its beginning. */
  reload(): void;
}

/**
 * A list for as long as a view shows it.
 * @param key another list where it changes
 */
export function useBlockList<T>(key: string, listingOf: () => Listing<T>): LongList<T> {
  const [round, reload] = useReducer((before: number, _: undefined) => before + 1, 0);
  const [, show] = useReducer((before: number, _: undefined) => before + 1, 0);
  const [fault, setFault] = useState<ApiFault>();
  const listed = `${key} ${round}`;
  const make = (): { listed: string; rows: BlockList<T> } => ({
    listed,
    rows: new BlockList(listingOf(), (error) => {
      setFault(error === undefined ? undefined : faultOf(error));
      show(undefined);
    }),
  });
  const [current, setCurrent] = useState(make);
  useEffect(() => {
    if (current.listed !== listed) {
      setFault(undefined);
      setCurrent(make());
    }
  }, [listed]);
  useEffect(() => {
    current.rows.want(0, 1);
    return () => current.rows.close();
  }, [current]);
  return { rows: current.rows, fault, reload: () => reload(undefined) };
}

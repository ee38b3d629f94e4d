/**
 * The API key: in memory, and in the tab's session storage where the reader wants it to outlive a reload. It is sent in
 * a header only, and never part of an address.
 */
import { useEffect, useState } from "preact/hooks";

const STORED = "strandline.key";

let key = sessionStorage.getItem(STORED) ?? undefined;
const listeners = new Set<() => void>();

export const currentKey = (): string | undefined => key;

/** @param keep whether a reload of this tab still knows it */
export function signIn(given: string, keep: boolean): void {
  key = given;
  if (keep) sessionStorage.setItem(STORED, given);
  for (const listener of listeners) listener();
}

export function signOut(): void {
  key = undefined;
  sessionStorage.removeItem(STORED);
  for (const listener of listeners) listener();
}

export function useIsSignedIn(): boolean {
  const [is, set] = useState(key !== undefined);
  useEffect(() => {
    const follow = (): void => set(key !== undefined);
    listeners.add(follow);
    return () => void listeners.delete(follow);
  }, []);
  return is;
}

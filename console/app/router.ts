/**
 * Each view has a URL: `#/jobs/ID?status=failed`. It stands behind the `#`, so that what somebody searches for is in
 * no server's log, and any server of files can serve the console.
 */
import { useEffect, useState } from "preact/hooks";

export interface Place {
  /** Decoded segments: `["jobs", "ID"]`. */
  path: readonly string[];
  query: URLSearchParams;
}

type Query = Record<string, string | undefined>;

/** Gives the address of a view; what is undefined or empty in `query` is left out. */
export function hrefOf(path: readonly string[], query: Query = {}): string {
  const given = Object.entries(query).filter((pair): pair is [string, string] => (pair[1] ?? "") !== "");
  const search = new URLSearchParams(given).toString();
  return `#/${path.map(encodeURIComponent).join("/")}${search === "" ? "" : `?${search}`}`;
}

/** Opens a view, as a click on a link to it does. */
export function goTo(path: readonly string[], query?: Query): void {
  location.hash = hrefOf(path, query);
}

/** Changes the address without a new entry in the history: while somebody types. */
export function replacePlace(path: readonly string[], query?: Query): void {
  history.replaceState(null, "", hrefOf(path, query));
  dispatchEvent(new HashChangeEvent("hashchange"));
}

export function readPlace(hash: string): Place {
  const [path = "", search = ""] = splitOnce(hash.replace(/^#\/?/, ""), "?");
  return {
    path: path
      .split("/")
      .filter((segment) => segment !== "")
      .map(decode),
    query: new URLSearchParams(search),
  };
}

/** Where the reader is, now and whenever that changes. */
export function usePlace(): Place {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const follow = (): void => setHash(location.hash);
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  return readPlace(hash);
}

function splitOnce(text: string, at: string): string[] {
  const index = text.indexOf(at);
  return index === -1 ? [text] : [text.slice(0, index), text.slice(index + 1)];
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

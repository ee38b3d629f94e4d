import type { Readable } from "node:stream";

/** A line longer than this is cut there: a handler that prints without end must not fill the memory. */
const LONGEST_LINE = 1024 * 1024;

/** Calls `onLine` for every non-empty line. */
export function readLines(stream: Readable, onLine: (line: string) => void): void {
  let rest = "";
  stream.setEncoding("utf8");
  stream.on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line !== "") onLine(line);
    if (rest.length > LONGEST_LINE) {
      onLine(rest);
      rest = "";
    }
  });
  stream.on("end", () => {
    if (rest !== "") onLine(rest);
  });
}

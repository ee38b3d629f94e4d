/** The same request, as somebody would send it without the console. The key is a variable, never written out. */

export interface EqualCall {
  name: string;
  text: string;
}

/** @param command words of the CLI that do the same; undefined where it has no such command */
export function equalCalls(path: string, body: unknown, command: string | undefined): EqualCall[] {
  const json = JSON.stringify(body, null, 2);
  const url = `${location.origin}${path}`;
  return [
    {
      name: "curl",
      text: [
        `curl -s ${shell(url)}`,
        `-H "Authorization: Bearer $KEY" -H "Content-Type: application/json"`,
        `-d ${shell(json)}`,
      ].join(" \\\n  "),
    },
    ...(command === undefined ? [] : [{ name: "CLI", text: command }]),
    {
      name: "TypeScript",
      text: `const response = await fetch(${JSON.stringify(url)}, {
  method: "POST",
  headers: { authorization: \`Bearer \${process.env.KEY}\`, "content-type": "application/json" },
  body: JSON.stringify(${json.replaceAll("\n", "\n  ")}),
});
console.log(await response.json());`,
    },
  ];
}

/** As one word of a POSIX shell. */
export const shell = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;

/** What lies at the addresses below `/console`, wherever the console is served from. */

export interface Placed {
  /** Name of a file of the build. */
  file?: string;
  /** Where it is instead. */
  location?: string;
}

/**
 * Tells what an address of the console gives: one of its files, or the way to one. Views stand behind the `#`, so
 * whoever writes `/console/jobs` for one is sent to `/console/#/jobs`. CloudFront runs this very text, without its
 * types, as cloudfront-js-2.0 does: it may use nothing but its argument, and little that is newer than 2015.
 * @param path as it was asked for, without a query
 * @returns neither a file nor a location where it is none of the console's
 */
export function placeOf(path: string): Placed {
  const root = "/console/";
  if (path === "/console") return { location: root };
  if (path.indexOf(root) !== 0) return {};
  const name = path.slice(root.length);
  if (name === "" || name === "index.html") return { file: "index.html" };
  if (/^assets\/[\w-]+\.(?:js|css)$/.test(name)) return { file: name };
  // a name with a dot in its last part is a file, and there are no others; nothing odd is handed on
  if (/^[\w-]+(?:\/[\w-]+)*\/?$/.test(name) && name.indexOf("assets") !== 0) return { location: `${root}#/${name}` };
  return {};
}

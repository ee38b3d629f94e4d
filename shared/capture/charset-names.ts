/** Maps the labels of encodings to their names. */

/** Whether the platform knows the label. */
export function canDecode(label: string): boolean {
  try {
    new TextDecoder(label);
    return true;
  } catch {
    return false;
  }
}

/** @param label one that can be decoded */
export const canonical = (label: string): string => {
  const name = new TextDecoder(label).encoding;
  return CANONICAL_CASE[name] ?? name.toUpperCase().replace("WINDOWS-", "windows-");
};
/** The standard's spelling where it is not all upper case. */
const CANONICAL_CASE: Record<string, string> = {
  big5: "Big5",
  gbk: "GBK",
  gb18030: "gb18030",
  shift_jis: "Shift_JIS",
  macintosh: "macintosh",
  "x-mac-cyrillic": "x-mac-cyrillic",
  "x-user-defined": "x-user-defined",
};

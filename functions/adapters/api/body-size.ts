/** How many values a JSON body holds: what a schema has to judge, however few bytes each takes. */

/** The longest list that a route takes has 10,000 objects of two fields. */
export const MAX_BODY_VALUES = 50_000;
/** The shortest value with what parts it from the next. */
const BYTES_PER_VALUE = 2;

/** Whether a JSON text holds more than `MAX_BODY_VALUES` values; what is no JSON holds none. */
export function holdsTooManyValues(json: string): boolean {
  if (json.length <= MAX_BODY_VALUES * BYTES_PER_VALUE) return false;
  const waiting: unknown[] = [parsed(json)];
  let seen = 1;
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (typeof value !== "object" || value === null) continue;
    const inside = Object.values(value);
    seen += inside.length;
    if (seen > MAX_BODY_VALUES) return true;
    // a spread would put them all on the stack
    for (const each of inside) waiting.push(each);
  }
  return false;
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    // the validator says so
    return undefined;
  }
}

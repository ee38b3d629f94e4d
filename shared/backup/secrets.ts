/**
 * What of the rows is secret, and what stands in a back-up in its place: the secret sealed with a passphrase, or a
 * marker that says that it is to be set again.
 */
import { createCipheriv, createDecipheriv, randomBytes, scrypt } from "node:crypto";
import { promisify } from "node:util";
import { CREDENTIAL, HIDDEN } from "../crawl/settings/secrets.ts";
import { readField, writeField } from "./copy-text.ts";

/** What stands for a secret, or the secret again; `place` is its table and column. */
export type ReplaceSecret = (text: string, place: string) => string;

/** Where in a column the secrets are. */
type Secrets = (value: unknown, replace: (secret: string) => string) => unknown;

interface SecretColumn {
  /** JSON, or text that may hold JSON; undefined: the whole text is the secret. */
  inJson?: Secrets;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const hidden = (value: unknown, replace: (secret: string) => string): unknown =>
  typeof value === "string" && value !== "" ? replace(value) : value;

/** Each text of an object or list, whatever its name. */
const everyText: Secrets = (value, replace) => {
  if (Array.isArray(value)) return value.map((each) => everyText(each, replace));
  if (!isRecord(value)) return hidden(value, replace);
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, everyText(each, replace)]));
};

/** Names of fields that are secret wherever they stand. */
const SECRET_FIELD = /^(password|passphrase|secret|secrets|token|api_?key|private_?key|authorization)$/i;

/** Settings of crawls: credentials among the headers, cookies, typed texts, and fields of such a name. */
const ofSettings: Secrets = (value, replace) => {
  if (Array.isArray(value)) return value.map((each) => ofSettings(each, replace));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]): [string, unknown] => {
      if (SECRET_FIELD.test(name)) return [name, everyText(each, replace)];
      if (name === "headers" && isRecord(each)) return [name, ofHeaders(each, replace)];
      if (name === "cookies" && Array.isArray(each))
        return [name, each.map((cookie) => withField(cookie, "value", replace))];
      if (name === "actions" && Array.isArray(each)) {
        const typed = (action: unknown) => isRecord(action) && action["type"] === "type";
        return [name, each.map((action) => (typed(action) ? withField(action, "text", replace) : action))];
      }
      return [name, ofSettings(each, replace)];
    }),
  );
};

const ofHeaders = (headers: Record<string, unknown>, replace: (secret: string) => string) =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, CREDENTIAL.test(name) ? everyText(value, replace) : value]),
  );

const withField = (value: unknown, field: string, replace: (secret: string) => string): unknown =>
  isRecord(value) ? { ...value, [field]: hidden(value[field], replace) } : value;

/** Of servers of proxies: who asks, and the password. */
const ofServers: Secrets = (value, replace) =>
  Array.isArray(value)
    ? value.map((server) => withField(withField(server, "password", replace), "username", replace))
    : value;

/** Of secrets of webhooks: [{secret, until}]. */
const ofSecretList: Secrets = (value, replace) =>
  Array.isArray(value) ? value.map((each) => withField(each, "secret", replace)) : value;

/** Columns that hold secrets, by table. The first column of each of these tables tells its rows apart. */
export const SECRET_COLUMNS: Readonly<Record<string, Readonly<Record<string, SecretColumn>>>> = {
  webhooks: { secrets: { inJson: ofSecretList }, headers: { inJson: everyText } },
  proxy_configs: { servers: { inJson: ofServers } },
  crawl_configs: { settings: { inJson: ofSettings } },
  crawl_sources: { options: { inJson: ofSettings } },
  collections: { defaults: { inJson: ofSettings } },
  jobs: { settings: { inJson: ofSettings } },
  archive_jobs: { config: { inJson: ofSettings } },
  // messages that failed, with what a job told its tasks
  dead_letters: { body: { inJson: ofSettings } },
  signing_keys: { private_key: {} },
};

/** Rows whose secrets are not there, by table and column. */
export type RowsWithoutSecrets = Map<string, Set<string>>;

/**
 * Replaces the secrets of a row as it stands in COPY's text.
 * @param columns of the table, in the order of the fields
 * @returns undefined where the table holds no secrets
 */
export function secretsOfRows(
  table: string,
  columns: readonly string[],
  replace: ReplaceSecret,
  left: RowsWithoutSecrets,
): ((fields: string[]) => string[]) | undefined {
  const known = SECRET_COLUMNS[table];
  if (known === undefined) return undefined;
  const places = Object.entries(known).map(([column, { inJson }]) => ({ at: columns.indexOf(column), column, inJson }));
  return (fields) => {
    const changed = [...fields];
    for (const { at, column, inJson } of places) {
      const text = readField(fields[at] ?? "\\N");
      if (text === null) continue;
      const place = `${table}.${column}`;
      let found = false;
      const one = (secret: string): string => {
        found = true;
        const instead = replace(secret, place);
        if (instead === HIDDEN) left.set(place, (left.get(place) ?? new Set()).add(readField(fields[0] ?? "") ?? ""));
        return instead;
      };
      const value = inJson === undefined ? one(text) : inText(text, (json) => inJson(json, one));
      // numbers and spaces stay as PostgreSQL wrote them
      if (found) changed[at] = writeField(value);
    }
    return changed;
  };
}

/** @returns the text as it is where it is no JSON */
function inText(text: string, change: (json: unknown) => unknown): string {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return text;
  }
  return JSON.stringify(change(json));
}

/** The passphrase is missing, or is another one. */
export class PassphraseRefused extends Error {
  override readonly name = "PassphraseRefused";
}

const SEALED = "sealed:";
const deriveKey = promisify<string, Buffer, number, { N: number; r: number; p: number; maxmem: number }, Buffer>(
  scrypt,
);
/** 64 MB and some 0.2 s for each guess at the passphrase. */
const COST = { N: 2 ** 16, r: 8, p: 1, maxmem: 128 * 1024 * 1024 };
const KEY_BYTES = 32;
const SALT_BYTES = 16;
/** What GCM asks for. */
const IV_BYTES = 12;
const TAG_BYTES = 16;
const CHECK = { text: "strandline", place: "check" };

export interface Seal {
  salt: string;
  /** By which a later passphrase is told to be the same. */
  check: string;
}

/** Left out: the marker stands for each of them. */
export const hideSecret: ReplaceSecret = () => HIDDEN;

/** AES-256-GCM, with the place as further data, so that a sealed text means nothing elsewhere. */
export async function createSeal(passphrase: string): Promise<{ seal: Seal; replace: ReplaceSecret }> {
  const salt = randomBytes(SALT_BYTES);
  const key = await deriveKey(passphrase, salt, KEY_BYTES, COST);
  const replace: ReplaceSecret = (text, place) => {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv("aes-256-gcm", key, iv).setAAD(Buffer.from(place));
    const sealed = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
    return SEALED + Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString("base64url");
  };
  return { seal: { salt: salt.toString("base64url"), check: replace(CHECK.text, CHECK.place) }, replace };
}

/**
 * Opens what `createSeal` has sealed.
 * @throws PassphraseRefused
 */
export async function openSeal({ salt, check }: Seal, passphrase: string): Promise<ReplaceSecret> {
  const key = await deriveKey(passphrase, Buffer.from(salt, "base64url"), KEY_BYTES, COST);
  const replace: ReplaceSecret = (text, place) => {
    if (!text.startsWith(SEALED)) return text;
    const bytes = Buffer.from(text.slice(SEALED.length), "base64url");
    const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES });
    decipher.setAAD(Buffer.from(place)).setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
    return decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES), undefined, "utf8") + decipher.final("utf8");
  };
  try {
    replace(check, CHECK.place);
  } catch {
    throw new PassphraseRefused("The passphrase is not the one that this back-up was sealed with");
  }
  return replace;
}

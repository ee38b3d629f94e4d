/**
 * Keeps what an `Idempotency-Key` stands for: of each caller's key one request, and its answer, for a day. The ids of
 * what a request makes are derived from its key's row, so a request that is taken up after its container was killed
 * finds what the first try has made: there is no moment at which a kill leaves two.
 */
import type { Queryable } from "../platform/database/database.ts";
import { ApiError } from "../platform/errors.ts";
import { sha256, uuidv7 } from "../platform/ids.ts";

export interface RememberedAnswer {
  status: number;
  headers: Readonly<Record<string, string>>;
  /** JSON text. */
  body: string;
}

/** The right to do what a key's request asks for. */
export interface Turn {
  /** Whether an earlier request with this key may have made something. */
  resumed: boolean;
  /** The id of a part of what is made, e.g. `job`: the same UUIDv7 in each turn of the key. */
  idOf(part: string): string;
  /** Keeps the answer for who sends the request again. */
  finish(answer: RememberedAnswer): Promise<void>;
  /**
   * Ends the turn without an answer to keep: the same request may try again at once. Where no id was asked for,
   * nothing was made, and the key is as if never used.
   */
  release(): Promise<void>;
}

export interface IdempotencyKeys {
  /**
   * @param requestHash 32 bytes, of all that makes two requests the same
   * @throws ApiError 409 IDEMPOTENCY_KEY_REUSED for another request, IDEMPOTENCY_IN_PROGRESS while the first runs
   */
  begin(apiKeyId: string, key: string, requestHash: Buffer): Promise<{ turn: Turn } | { answer: RememberedAnswer }>;
}

/** Seconds for which a key is known. */
const KEPT_S = 24 * 3600;
/** Seconds after which a request that has not ended is taken for one whose container was killed. */
const TURN_S = 30;
const RETRY_AFTER_S = 1;
/** Characters; a longer answer is made anew from what the request has made. */
const LONGEST_ANSWER = 256 * 1024;

export function createIdempotencyKeys(sql: Queryable): IdempotencyKeys {
  return {
    async begin(apiKeyId, key, requestHash) {
      const [fresh, token] = [uuidv7(), uuidv7()];
      const [taken] = await sql<{ id: string }[]>`
        insert into idempotency_keys as known (api_key_id, key, request_hash, id, token, locked_until, expires_at)
        values (${apiKeyId}, ${key}, ${requestHash}, ${fresh}, ${token}, now() + ${TURN_S} * interval '1 second',
          now() + ${KEPT_S} * interval '1 second')
        on conflict (api_key_id, key) do update set token = excluded.token, locked_until = excluded.locked_until,
          request_hash = excluded.request_hash, status = null, headers = null, body = null,
          id = case when known.expires_at <= now() then excluded.id else known.id end,
          expires_at = case when known.expires_at <= now() then excluded.expires_at else known.expires_at end
        where known.expires_at <= now() or (known.request_hash = excluded.request_hash and known.status is null
          and known.locked_until <= now())
        returning id`;
      if (taken !== undefined) return { turn: turnOf(sql, { apiKeyId, key, token, id: taken.id }, taken.id !== fresh) };
      const [known] = await sql<(RememberedAnswer & { requestHash: Buffer })[]>`
        select request_hash as "requestHash", status, headers, body from idempotency_keys
        where api_key_id = ${apiKeyId} and key = ${key}`;
      if (known !== undefined && !requestHash.equals(known.requestHash)) throw reused();
      // a key that is gone by now was released: its next request begins anew
      if (known === undefined || known.status === null) throw inProgress();
      const { status, headers, body } = known;
      return { answer: { status, headers, body } };
    },
  };
}

/** @returns how many keys are forgotten, whose day is over */
export async function forgetIdempotencyKeys(sql: Queryable): Promise<number> {
  const { count } = await sql`delete from idempotency_keys where expires_at <= now()`;
  return count;
}

interface Held {
  apiKeyId: string;
  key: string;
  token: string;
  id: string;
}

function turnOf(sql: Queryable, { apiKeyId, key, token, id }: Held, resumed: boolean): Turn {
  const own = sql`api_key_id = ${apiKeyId} and key = ${key} and token = ${token} and status is null`;
  let used = resumed;
  const release = async (): Promise<void> => {
    await (used
      ? sql`update idempotency_keys set locked_until = now() where ${own}`
      : sql`delete from idempotency_keys where ${own}`);
  };
  return {
    resumed,
    idOf(part) {
      used = true;
      return derivedId(id, part);
    },
    release,
    async finish({ status, headers, body }) {
      if (body.length > LONGEST_ANSWER) return await release();
      await sql`
        update idempotency_keys set status = ${status}, headers = ${JSON.stringify(headers)}::text::jsonb, body = ${body}
        where ${own}`;
    },
  };
}

/** A UUIDv7 of the same millisecond. */
function derivedId(id: string, part: string): string {
  const digits = sha256(`${id} ${part}`).toString("hex");
  return `${id.slice(0, 15)}${digits.slice(0, 3)}-${id[19]}${digits.slice(3, 6)}-${digits.slice(6, 18)}`;
}

const reused = (): ApiError =>
  new ApiError(409, "This Idempotency-Key was sent with another request within a day: send a new one with each", {
    code: "IDEMPOTENCY_KEY_REUSED",
  });

const inProgress = (): ApiError =>
  new ApiError(409, "The request with this Idempotency-Key is still under way: send it again for its answer", {
    code: "IDEMPOTENCY_IN_PROGRESS",
    headers: { "retry-after": String(RETRY_AFTER_S) },
  });

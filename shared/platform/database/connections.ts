/**
 * A pool over the PostgreSQL client that never uses a connection again once it has broken. The client (postgres 3.4.9)
 * keeps what was to be written to a connection that is gone: the next one that it makes in its place may never send
 * anything, and so ends in CONNECT_TIMEOUT each time; and statements of a transaction that died may run in that of
 * somebody else. So each connection is a client of its own, which goes with it.
 */
import postgres from "postgres";

type Client = postgres.Sql<Record<string, never>>;
type Options = postgres.Options<Record<string, postgres.PostgresType>>;

/** What the client holds of a statement. */
interface Statement {
  handler(statement: Statement): void;
  resolve(value: unknown): void;
  reject(error: unknown): void;
  /** Null until it goes out. */
  state: unknown;
}

interface Connection {
  client: Client;
  /** Nothing may go out on it any more. */
  broken: boolean;
}

interface Slot {
  connection: Connection | null;
  /** Statements under way, and transactions. */
  uses: number;
  /** In a transaction, or reserved. */
  taken: boolean;
}

/** Of a connection that ended before the statement went out. */
const NEVER_SENT = new Set(["CONNECTION_DESTROYED", "CONNECTION_ENDED"]);

/** @param size connections, at the most */
export function createConnections(url: string, size: number, settings: Options): Client {
  // makes statements, and runs none
  const maker = postgres(url, { ...settings, max: 1 }) as unknown as Client;
  const slots: Slot[] = Array.from({ length: size }, () => ({ connection: null, uses: 0, taken: false }));
  const waiting: { alone: boolean; start: (slot: Slot) => void }[] = [];
  let ended: Promise<unknown> | null = null;

  function connectionOf(slot: Slot): Connection {
    // the maker refuses all that comes after the end
    if (ended !== null) return { client: maker, broken: false };
    if (slot.connection !== null) return slot.connection;
    const client = postgres(url, { ...settings, max: 1, onclose }) as unknown as Client;
    const connection: Connection = { client, broken: false };
    function onclose(): void {
      connection.broken = true;
      if (slot.connection === connection) slot.connection = null;
      void client.end({ timeout: 0 });
    }
    slot.connection = connection;
    return connection;
  }

  function use(alone: boolean, start: (slot: Slot) => void): void {
    waiting.push({ alone, start });
    startNext();
  }

  function startNext(): void {
    for (let next = waiting[0]; next !== undefined; next = waiting[0]) {
      const [slot] = slots.filter(({ taken }) => !taken).toSorted((a, b) => a.uses - b.uses);
      if (slot === undefined) return;
      waiting.shift();
      slot.uses += 1;
      slot.taken = next.alone;
      next.start(slot);
    }
  }

  function release(slot: Slot, alone: boolean): void {
    slot.uses -= 1;
    if (alone) slot.taken = false;
    startNext();
  }

  function dispatched<Made>(made: Made): Made {
    if (!(made instanceof Promise)) return made;
    const statement = made as unknown as Statement;
    const { handler, resolve, reject } = statement;
    let slot: Slot | null = null;
    const settled = (): void => {
      if (slot !== null) release(slot, false);
      slot = null;
    };
    const run = (): void => {
      if (ended !== null) handler(statement);
      else
        use(false, (given) => {
          slot = given;
          handlerOf(connectionOf(given).client)(statement);
        });
    };
    statement.handler = run;
    statement.resolve = (value) => {
      settled();
      resolve(value);
    };
    statement.reject = (error) => {
      settled();
      if (ended === null && statement.state === null && NEVER_SENT.has(codeOf(error))) run();
      else reject(error);
    };
    return made;
  }

  async function begin(...given: unknown[]): Promise<unknown> {
    const work = given.pop() as Work;
    for (;;) {
      let begun = false;
      const slot = await new Promise<Slot>((start) => use(true, start));
      const connection = connectionOf(slot);
      try {
        return await connection.client.begin(...(given as [string]), (tx) => {
          begun = true;
          return unlessBroken(connection, tx as unknown as Client, work);
        });
      } catch (error) {
        if (begun || ended !== null || !NEVER_SENT.has(codeOf(error))) throw error;
      } finally {
        release(slot, true);
      }
    }
  }

  async function reserve(): Promise<unknown> {
    const slot = await new Promise<Slot>((start) => use(true, start));
    const session = await connectionOf(slot)
      .client.reserve()
      .catch((error: unknown) => {
        release(slot, true);
        throw error;
      });
    return Object.assign(session, {
      release: ((giveBack) => () => {
        giveBack();
        release(slot, true);
      })(session.release),
    });
  }

  function end(how?: { timeout?: number }): Promise<unknown> {
    ended ??= Promise.all(
      [maker, ...slots.map(({ connection }) => connection?.client)].map((client) => client?.end(how)),
    );
    return ended;
  }

  return withStatements(maker, dispatched, { begin, reserve, end });
}

type Work = (tx: Client) => unknown;

/**
 * What a transaction does. Where its connection has broken, its statements are refused, and its end is never told to
 * the client, which would roll back on a connection that is gone; it has refused the transaction already.
 */
function unlessBroken(connection: Connection, tx: Client, work: Work): Promise<unknown> {
  function guarded<Made>(made: Made): Made {
    if (!(made instanceof Promise)) return made;
    const statement = made as unknown as Statement;
    const { handler } = statement;
    statement.handler = () => {
      if (connection.broken) statement.reject(connectionClosed());
      else handler(statement);
    };
    return made;
  }
  const savepoint = (...given: unknown[]): Promise<unknown> => {
    const inner = given.pop() as Work;
    const { savepoint: begin } = tx as unknown as { savepoint(...given: unknown[]): Promise<unknown> };
    return begin(...given, (own: Client) => unlessBroken(connection, own, inner));
  };
  return new Promise((resolve, reject) => {
    new Promise((done) => {
      const result = work(withStatements(tx, guarded, { savepoint }));
      done(Array.isArray(result) ? Promise.all(result) : result);
    }).then(
      (value) => {
        if (!connection.broken) resolve(value);
      },
      (error: unknown) => {
        if (!connection.broken) reject(error);
      },
    );
  });
}

function withStatements(sql: Client, wrap: <Made>(made: Made) => Made, own: Record<string, unknown>): Client {
  return new Proxy(sql, {
    apply: (target, self, given) => wrap(Reflect.apply(target, self, given)),
    get(target, name) {
      if (typeof name === "string" && Object.hasOwn(own, name)) return own[name];
      const value: unknown = Reflect.get(target, name);
      if (name !== "unsafe" && name !== "file") return value;
      return (...given: unknown[]) => wrap(Reflect.apply(value as () => unknown, target, given));
    },
  });
}

const connectionClosed = (): Error =>
  Object.assign(new Error("The connection to the database has closed"), { code: "CONNECTION_CLOSED" });

/** What a client does with a statement that is to run. */
const handlerOf = (client: Client): Statement["handler"] => (client`` as unknown as Statement).handler;

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

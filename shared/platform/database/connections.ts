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

interface Slot {
  client: Client | null;
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
  const slots: Slot[] = Array.from({ length: size }, () => ({ client: null, uses: 0, taken: false }));
  const waiting: { alone: boolean; start: (slot: Slot) => void }[] = [];
  let ended: Promise<unknown> | null = null;

  function clientOf(slot: Slot): Client {
    // the maker refuses all that comes after the end
    if (slot.client !== null || ended !== null) return slot.client ?? maker;
    // with what the maker's options share: the types that the first connection asks for
    const client = postgres({ ...maker.options, max: 1, onclose } as unknown as Options) as unknown as Client;
    function onclose(): void {
      if (slot.client === client) slot.client = null;
      void client.end({ timeout: 0 });
    }
    slot.client = client;
    return client;
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
          handlerOf(clientOf(given))(statement);
        });
    };
    statement.handler = run;
    statement.resolve = (value) => {
      maker.options.fetch_types = false;
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
    const work = given.pop() as (tx: unknown) => unknown;
    for (;;) {
      if (ended !== null) return await maker.begin(work as never);
      let begun = false;
      const slot = await new Promise<Slot>((start) => use(true, start));
      try {
        return await clientOf(slot).begin(...(given as [string]), (tx) => {
          begun = true;
          return work(tx);
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
    const session = await clientOf(slot)
      .reserve()
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
    ended ??= Promise.all([maker, ...slots.map(({ client }) => client)].map((client) => client?.end(how)));
    return ended;
  }

  return new Proxy(maker, {
    apply: (target, self, given) => dispatched(Reflect.apply(target, self, given)),
    get(target, name, receiver) {
      if (name === "begin") return begin;
      if (name === "reserve") return reserve;
      if (name === "end") return end;
      if (name === "unsafe" || name === "file")
        return (...given: unknown[]) => dispatched(Reflect.apply(Reflect.get(target, name), target, given));
      return Reflect.get(target, name, receiver);
    },
  });
}

/** What a client does with a statement that is to run. */
const handlerOf = (client: Client): Statement["handler"] => (client`` as unknown as Statement).handler;

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

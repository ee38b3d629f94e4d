/**
 * The containers of one trust, shared by its functions: started when an event needs one, kept warm, ended when idle.
 * Those of a function that mostly waits run several of its events at once.
 */
import type { FunctionSpec } from "../../infra/topology/spec.ts";
import { Container, type ContainerOptions, type HostedFunction } from "./container.ts";
import type { StreamSink } from "./invocation.ts";

/**
 * Shorter than Lambda keeps an idle container: on one machine its memory and its database connection are missed
 * elsewhere.
 */
const KEEP_WARM_MS = 3 * 60_000;
/** A thread that is busy for less of its time mostly waits: it may take one more event. */
const CALM = 0.6;

export interface GroupedFunction extends HostedFunction {
  /** Threads that run its events, at the most. */
  containers: number;
}

/** Events of a function that one thread runs at once. */
export const eventsPerContainer = ({ localEventsPerContainer }: FunctionSpec): number => localEventsPerContainer ?? 1;

export class ContainerGroup {
  readonly #options: ContainerOptions;
  /** The one used last stands last. */
  readonly #idle: { container: Container; since: number }[] = [];
  readonly #busy = new Set<Container>();
  readonly #all = new Set<Container>();
  #stopped = false;
  #cooling: NodeJS.Timeout | undefined;

  constructor(options: ContainerOptions) {
    this.#options = options;
  }

  get name(): string {
    return this.#options.name;
  }

  /** Threads that run now, at work or idle. */
  get size(): number {
    return this.#all.size;
  }

  get idle(): number {
    return this.#idle.length;
  }

  /** Idle containers that have a function's handler loaded. */
  idleWith(functionName: string): number {
    return this.#idle.filter(({ container }) => container.hosts(functionName)).length;
  }

  /**
   * Runs one event in an idle container, or in a new one where none is idle; where the function has all its containers
   * and shares them, in the one with the fewest events.
   * @throws InvocationError
   */
  async invoke(hosted: GroupedFunction, event: unknown, sink: StreamSink | undefined): Promise<unknown> {
    const container = this.#shared(hosted) ?? this.#take(hosted.spec.name);
    this.#busy.add(container);
    try {
      return await container.invoke(hosted, event, sink);
    } finally {
      if (container.events === 0) this.#give(container);
    }
  }

  /**
   * Whether one more event would meet a thread that mostly waits: an idle or a new one, or one whose utilization was
   * measured just now and is low. So a thread takes no more than one such event per measurement, and feels it before
   * the next.
   */
  isCalm(hosted: GroupedFunction): boolean {
    const busy = this.#busyWith(hosted);
    if (busy.length < hosted.containers) return true;
    return busy.some((container) => container.measureUtilization() && container.utilization < CALM);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#cooling);
    await Promise.all([...this.#all].map((container) => container.stop()));
  }

  /** One at work on events of the same function; undefined where it may have another of its own. */
  #shared(hosted: GroupedFunction): Container | undefined {
    const most = eventsPerContainer(hosted.spec);
    if (most === 1) return undefined;
    const busy = this.#busyWith(hosted);
    if (busy.length < hosted.containers) return undefined;
    const free = busy.filter(({ events }) => events < most);
    const calm = free.filter(({ utilization }) => utilization < CALM);
    return (calm.length > 0 ? calm : free).toSorted((a, b) => a.events - b.events)[0];
  }

  #busyWith({ spec }: GroupedFunction): Container[] {
    return [...this.#busy].filter(({ functionName, usable }) => usable && functionName === spec.name);
  }

  /** One that has the handler loaded, if there is such a one; else the one used last, so that others may go cold. */
  #take(functionName: string): Container {
    const loaded = this.#idle.findLastIndex(({ container }) => container.hosts(functionName));
    const [taken] = this.#idle.splice(loaded === -1 ? this.#idle.length - 1 : loaded, 1);
    if (taken?.container.usable) return taken.container;
    if (taken !== undefined) {
      this.#discard(taken.container);
      return this.#take(functionName);
    }
    const container = new Container(this.#options);
    this.#all.add(container);
    return container;
  }

  #give(container: Container): void {
    this.#busy.delete(container);
    if (container.usable && !this.#stopped) {
      this.#idle.push({ container, since: Date.now() });
      this.#cooling ??= this.#coolLater();
    } else {
      this.#discard(container);
    }
  }

  #coolLater(): NodeJS.Timeout {
    return setTimeout(() => {
      const oldest = Date.now() - KEEP_WARM_MS;
      while (this.#idle[0] && this.#idle[0].since <= oldest) {
        const cold = this.#idle.shift();
        if (cold) this.#discard(cold.container);
      }
      this.#cooling = this.#idle.length > 0 ? this.#coolLater() : undefined;
    }, KEEP_WARM_MS).unref();
  }

  #discard(container: Container): void {
    this.#all.delete(container);
    void container.stop();
  }
}

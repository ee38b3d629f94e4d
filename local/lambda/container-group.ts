/**
 * The containers of one trust, shared by its functions: started when an event needs one, kept warm, ended when idle.
 */
import { Container, type ContainerOptions, type HostedFunction } from "./container.ts";
import type { StreamSink } from "./invocation.ts";

/**
 * Shorter than Lambda keeps an idle container: on one machine its memory and its database connection are missed
 * elsewhere.
 */
const KEEP_WARM_MS = 3 * 60_000;

export class ContainerGroup {
  readonly #options: ContainerOptions;
  /** The one used last stands last. */
  readonly #idle: { container: Container; since: number }[] = [];
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
   * Runs one event in an idle container, or in a new one where none is idle.
   * @throws InvocationError
   */
  async invoke(hosted: HostedFunction, event: unknown, sink: StreamSink | undefined): Promise<unknown> {
    const container = this.#take(hosted.spec.name);
    try {
      return await container.invoke(hosted, event, sink);
    } finally {
      this.#give(container);
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#cooling);
    await Promise.all([...this.#all].map((container) => container.stop()));
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

/** The containers of one function: started when an event needs one, kept warm, never more than its limit. */
import type { FunctionSpec } from "../../infra/topology/spec.ts";
import { Container, type ContainerOptions } from "./container.ts";
import { InvocationError, type InvocationFault, type StreamSink } from "./invocation.ts";

export interface PoolOptions extends ContainerOptions {
  /** Containers at once. */
  size: number;
  /** Told of each event that ended, with its duration in ms, and what kept it from an answer. */
  onInvocation: (spec: FunctionSpec, durationMs: number, fault: InvocationFault | undefined) => void;
}

/** Shorter than Lambda keeps an idle container: on one machine its memory and its database connection are missed elsewhere. */
const KEEP_WARM_MS = 3 * 60_000;

/** The right to run one event. */
export interface Slot {
  /** Runs the event and gives the slot back. @throws InvocationError */
  invoke(event: unknown, sink?: StreamSink): Promise<unknown>;
  /** Gives the slot back unused. */
  release(): void;
}

export class FunctionPool {
  readonly spec: FunctionSpec;
  readonly size: number;
  readonly #options: PoolOptions;
  readonly #warm: { container: Container; since: number }[] = [];
  readonly #all = new Set<Container>();
  readonly #waiting: (() => void)[] = [];
  readonly #runs = new Set<Promise<unknown>>();
  readonly #onFree: (() => void)[] = [];
  #free: number;
  #stopped = false;
  #cooling: NodeJS.Timeout | undefined;

  constructor(options: PoolOptions) {
    this.spec = options.spec;
    this.size = options.size;
    this.#options = options;
    this.#free = options.size;
  }

  /** Events that run now. */
  get running(): number {
    return this.#runs.size;
  }

  /** Containers without an event. */
  get warm(): number {
    return this.#warm.length;
  }

  /** Calls back whenever a slot comes free that nobody waits for. */
  onFree(callback: () => void): void {
    this.#onFree.push(callback);
  }

  /** A slot, if one is free now. */
  tryAcquire(): Slot | undefined {
    if (this.#free === 0 || this.#stopped) return undefined;
    this.#free -= 1;
    return this.#slot();
  }

  /**
   * Waits for a slot, in order of arrival, and runs the event. @throws InvocationError
   * @param patienceMs longest wait; a stream may hold its slot for minutes
   */
  async invoke(event: unknown, sink?: StreamSink, patienceMs = Number.POSITIVE_INFINITY): Promise<unknown> {
    const deadline = Date.now() + patienceMs;
    while (this.#free === 0 && !this.#stopped) {
      if (!(await this.#waitForSlot(deadline - Date.now()))) throw this.#busyError();
    }
    const slot = this.tryAcquire();
    if (slot === undefined) throw this.#stoppedError();
    return await slot.invoke(event, sink);
  }

  /** @returns false where none came free within `patienceMs` */
  async #waitForSlot(patienceMs: number): Promise<boolean> {
    return await new Promise((resolve) => {
      let timer: NodeJS.Timeout | undefined;
      const wake = () => {
        clearTimeout(timer);
        resolve(true);
      };
      this.#waiting.push(wake);
      if (patienceMs === Number.POSITIVE_INFINITY) return;
      const giveUp = () => {
        this.#waiting.splice(this.#waiting.indexOf(wake), 1);
        resolve(false);
      };
      timer = setTimeout(giveUp, Math.max(0, patienceMs));
    });
  }

  /** Takes no more events and waits, `graceMs` at the most, for those that run. */
  async stop(graceMs: number): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#cooling);
    for (const wake of this.#waiting.splice(0)) wake();
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, graceMs);
    });
    await Promise.race([Promise.allSettled(this.#runs), patience]);
    clearTimeout(timer);
    await Promise.all([...this.#all].map((container) => container.stop()));
  }

  #slot(): Slot {
    let used = false;
    const release = () => {
      if (used) return;
      used = true;
      this.#free += 1;
      const next = this.#waiting.shift();
      if (next) next();
      else for (const callback of this.#onFree) callback();
    };
    return {
      release,
      invoke: async (event, sink) => {
        const run = this.#run(event, sink);
        this.#runs.add(run);
        try {
          return await run;
        } finally {
          this.#runs.delete(run);
          release();
        }
      },
    };
  }

  async #run(event: unknown, sink: StreamSink | undefined): Promise<unknown> {
    const container = this.#warm.pop()?.container ?? this.#start();
    const start = performance.now();
    let fault: InvocationFault | undefined;
    try {
      return await container.invoke(event, sink);
    } catch (error) {
      fault = error instanceof InvocationError ? error.fault : "error";
      throw error;
    } finally {
      this.#options.onInvocation(this.spec, performance.now() - start, fault);
      this.#keep(container);
    }
  }

  #start(): Container {
    const container = new Container(this.#options);
    this.#all.add(container);
    return container;
  }

  #keep(container: Container): void {
    // what runs once per start needs no thread afterwards
    if (container.usable && !this.#stopped && !this.spec.atDeploy) {
      this.#warm.push({ container, since: Date.now() });
      this.#cooling ??= this.#coolLater();
    } else {
      this.#discard(container);
    }
  }

  #coolLater(): NodeJS.Timeout {
    return setTimeout(() => {
      const oldest = Date.now() - KEEP_WARM_MS;
      while (this.#warm[0] && this.#warm[0].since <= oldest) {
        const cold = this.#warm.shift();
        if (cold) this.#discard(cold.container);
      }
      this.#cooling = this.#warm.length > 0 ? this.#coolLater() : undefined;
    }, KEEP_WARM_MS).unref();
  }

  #discard(container: Container): void {
    this.#all.delete(container);
    void container.stop();
  }

  #busyError(): InvocationError {
    const message = `All ${this.size} containers of ${this.spec.name} are busy`;
    return new InvocationError("busy", message, { functionName: this.spec.name, requestId: "" });
  }

  #stoppedError(): InvocationError {
    return new InvocationError("stopped", "The runtime is stopping", { functionName: this.spec.name, requestId: "" });
  }
}

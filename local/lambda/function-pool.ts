/** The events of one function: as many at once as its containers may run, the others wait. */
import type { FunctionSpec } from "../../infra/topology/spec.ts";
import { type ContainerGroup, eventsPerContainer, type GroupedFunction } from "./container-group.ts";
import { InvocationError, type InvocationFault, type StreamSink } from "./invocation.ts";

export interface PoolOptions extends GroupedFunction {
  /** Where the containers come from. */
  group: ContainerGroup;
  /** Told of each event that ended, with its duration in ms, and what kept it from an answer. */
  onInvocation: (spec: FunctionSpec, durationMs: number, fault: InvocationFault | undefined) => void;
}

/** The right to run one event. */
export interface Slot {
  /**
   * Runs the event and gives the slot back.
   * @throws InvocationError
   */
  invoke(event: unknown, sink?: StreamSink): Promise<unknown>;
  /** Gives the slot back unused. */
  release(): void;
}

export class FunctionPool {
  readonly spec: FunctionSpec;
  /** Events at once. */
  readonly size: number;
  readonly #options: PoolOptions;
  readonly #waiting: (() => void)[] = [];
  readonly #runs = new Set<Promise<unknown>>();
  readonly #onFree: (() => void)[] = [];
  #free: number;
  #stopped = false;

  constructor(options: PoolOptions) {
    this.spec = options.spec;
    this.size = options.containers * eventsPerContainer(options.spec);
    this.#options = options;
    this.#free = this.size;
  }

  /** Events that run now. */
  get running(): number {
    return this.#runs.size;
  }

  /** Containers without an event that have its handler loaded. */
  get warm(): number {
    return this.#options.group.idleWith(this.spec.name);
  }

  /** Calls back whenever a slot comes free that nobody waits for. */
  onFree(callback: () => void): void {
    this.#onFree.push(callback);
  }

  /** Whether all slots are taken. */
  get full(): boolean {
    return this.#free === 0 || this.#stopped;
  }

  /**
   * A slot, if one is free now.
   * @param when `calm`: only where its event would not add to the load of a busy thread
   */
  tryAcquire(when: "any" | "calm" = "any"): Slot | undefined {
    if (this.full) return undefined;
    if (when === "calm" && eventsPerContainer(this.spec) > 1 && !this.#options.group.isCalm(this.#options)) {
      return undefined;
    }
    this.#free -= 1;
    return this.#slot();
  }

  /**
   * Waits for a slot, in order of arrival, and runs the event.
   * @throws InvocationError
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

  /**
   * Takes no more events and waits, `graceMs` at the most, for those that run; their containers are their group's to
   * end.
   */
  async stop(graceMs: number): Promise<void> {
    this.#stopped = true;
    for (const wake of this.#waiting.splice(0)) wake();
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, graceMs);
    });
    await Promise.race([Promise.allSettled(this.#runs), patience]);
    clearTimeout(timer);
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
    const { group, onInvocation } = this.#options;
    const start = performance.now();
    let fault: InvocationFault | undefined;
    try {
      return await group.invoke(this.#options, event, sink);
    } catch (error) {
      fault = error instanceof InvocationError ? error.fault : "error";
      throw error;
    } finally {
      onInvocation(this.spec, performance.now() - start, fault);
    }
  }

  #busyError(): InvocationError {
    const message = `${this.spec.name} runs ${this.size} events at once, and all are busy`;
    return new InvocationError("busy", message, { functionName: this.spec.name, requestId: "" });
  }

  #stoppedError(): InvocationError {
    return new InvocationError("stopped", "The runtime is stopping", { functionName: this.spec.name, requestId: "" });
  }
}

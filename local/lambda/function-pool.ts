/** The events of one function: as many at once as its containers may run, the others wait. */
import type { FunctionSpec } from "../../infra/topology/spec.ts";
import { type ContainerGroup, eventsPerContainer, type GroupedFunction } from "./container-group.ts";
import { InvocationError, type InvocationFault, type StreamSink } from "./invocation.ts";

export interface PoolOptions extends GroupedFunction {
  /** Where the containers come from. */
  group: Pick<ContainerGroup, "invoke" | "idleWith" | "isCalm">;
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

/** Events that wait for a slot of one function, where they have a limit of patience: more would only wait in vain. */
const MOST_WAITING = 100;
/** While the handler is loaded. */
const LOADING_PATIENCE_MS = 29_000;

export class FunctionPool {
  readonly spec: FunctionSpec;
  /** Events at once. */
  readonly size: number;
  readonly #options: PoolOptions;
  readonly #waiting: (() => void)[] = [];
  /** Whether an event has ended or begun to answer: the first ones wait for the handler to be loaded. */
  #loaded = false;
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
   * @param sink where it says that nobody reads any longer, the event is not run
   * @param patienceMs longest wait; a stream may hold its slot for minutes
   */
  async invoke(event: unknown, sink?: StreamSink, patienceMs = Number.POSITIVE_INFINITY): Promise<unknown> {
    if (patienceMs !== Number.POSITIVE_INFINITY && this.#waiting.length >= MOST_WAITING) throw this.#busyError();
    const deadline = Date.now() + (this.#loaded ? patienceMs : Math.max(patienceMs, LOADING_PATIENCE_MS));
    while (this.#free === 0 && !this.#stopped) {
      if (!(await this.#waitForSlot(deadline - Date.now(), sink?.closed))) throw this.#busyError();
    }
    const slot = this.tryAcquire();
    if (slot === undefined) throw this.#stoppedError();
    return await slot.invoke(event, sink);
  }

  /** @returns false where none came free within `patienceMs`, or whoever asked has left */
  async #waitForSlot(patienceMs: number, gone: AbortSignal | undefined): Promise<boolean> {
    if (gone?.aborted) return false;
    return await new Promise((resolve) => {
      let timer: NodeJS.Timeout | undefined;
      const settle = (isFree: boolean): void => {
        clearTimeout(timer);
        gone?.removeEventListener("abort", giveUp);
        resolve(isFree);
      };
      const wake = (): void => settle(true);
      const giveUp = (): void => {
        const place = this.#waiting.indexOf(wake);
        if (place !== -1) this.#waiting.splice(place, 1);
        settle(false);
      };
      this.#waiting.push(wake);
      gone?.addEventListener("abort", giveUp);
      if (patienceMs !== Number.POSITIVE_INFINITY) timer = setTimeout(giveUp, Math.max(0, patienceMs));
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
      return await group.invoke(this.#options, event, sink && this.#noticed(sink));
    } catch (error) {
      fault = error instanceof InvocationError ? error.fault : "error";
      throw error;
    } finally {
      this.#loaded = true;
      onInvocation(this.spec, performance.now() - start, fault);
    }
  }

  /** A stream that has begun shows that the handler is loaded, though it may go on for minutes. */
  #noticed(sink: StreamSink): StreamSink {
    return {
      closed: sink.closed,
      write: (bytes) => sink.write(bytes),
      head: (head) => {
        this.#loaded = true;
        sink.head(head);
      },
    };
  }

  #busyError(): InvocationError {
    const message = `${this.spec.name} runs ${this.size} events at once, and all are busy`;
    return new InvocationError("busy", message, { functionName: this.spec.name, requestId: "" });
  }

  #stoppedError(): InvocationError {
    return new InvocationError("stopped", "The runtime is stopping", { functionName: this.spec.name, requestId: "" });
  }
}

/** Everything on one machine: the services, the handlers of a topology in worker threads, and what wakes them. */
import { join, resolve } from "node:path";
import { renderedByCrawl4Ai } from "../infra/topology/rendering.ts";
import type { FunctionSpec, Topology } from "../infra/topology/spec.ts";
import { embedderDescriptor } from "../shared/knowledge/embedders/registry.ts";
import { shareWeights } from "../shared/knowledge/embedders/static/model.ts";
import { STATIC_DESCRIPTOR } from "../shared/knowledge/embedders/static/static-descriptor.ts";
import { modelDirectory } from "../shared/knowledge/embedders/static/static-embedder.ts";
import type { Config } from "../shared/platform/config.ts";
import type { Family } from "../shared/platform/observability/exposition.ts";
import { ensureAdminKey } from "./admin-key.ts";
import type { LocalAws } from "./aws/emulators.ts";
import { createConsolePages } from "./console/console-pages.ts";
import { announcedEnvironment, checkEnvironment, type Environment, handlerEnvironment } from "./environment.ts";
import { newCredentials } from "./front/credentials.ts";
import { createSignatureCheck } from "./front/signature.ts";
import { type HttpGateway, startHttpGateway } from "./gateway/http-gateway.ts";
import { answerOwnPage } from "./gateway/own-pages.ts";
import { type ReplayGateway, startReplayGateway } from "./gateway/replay-gateway.ts";
import { openWebSocketGateway, type WebSocketGateway } from "./gateway/websocket-gateway.ts";
import { type Home, takeHome } from "./home.ts";
import { asyncTrigger, startTicking } from "./lambda/async-events.ts";
import { ContainerGroup } from "./lambda/container-group.ts";
import { FunctionPool } from "./lambda/function-pool.ts";
import type { StreamSink } from "./lambda/invocation.ts";
import { type Poller, startPoller } from "./lambda/queue-poller.ts";
import { environmentOf, type Trust, trustOf } from "./lambda/trust.ts";
import { openLogSink } from "./log-sink.ts";
import { openRuntimeMetrics, type RuntimeMetrics } from "./metrics/runtime-metrics.ts";
import { freeInterruptedWork, prepareResources } from "./prepare.ts";
import { type Services, startServices } from "./services.ts";
import { createUsageMeter, type Usage } from "./usage/usage.ts";

export interface RuntimeOptions {
  topology: Topology;
  /** Where state lives. */
  home: string;
  /** Of the API on 127.0.0.1; 0: any free one. */
  port?: number;
  /** Of replay; any free one where not given. */
  replayPort?: number;
  /** Settings; `process.env` where not given. */
  env?: Environment;
  /** Holds `<name>/handler.ts` of each function. */
  functionsDirectory?: string;
  /** Delivers every message twice, at once. */
  deliverTwice?: boolean;
  /** Makes an admin key and keeps it in `credentials.json`; needs the schema, and so a function that lays it. */
  adminKey?: boolean;
  /** Wakes no function by itself: no queue is read, no schedule fires. */
  onlyServices?: boolean;
  /** Each line for the terminal. */
  show?: (line: string) => void;
}

export interface Addresses {
  api: string;
  /** undefined where no function of the topology replays. */
  replay: string | undefined;
  s3: string;
  sqs: string;
  dynamodb: string;
  scheduler: string;
  /** With its password; undefined where no function of the topology asks for a database. */
  postgres: string | undefined;
}

export interface Runtime {
  /** `http://127.0.0.1:PORT` */
  url: string;
  /** Admin key of the API; undefined where none was asked for. */
  apiKey: string | undefined;
  /** Whether the key was made by this start. */
  apiKeyIsNew: boolean;
  addresses: Addresses;
  /** What the handlers see. */
  env: Record<string, string>;
  /** Process id of the embedded Postgres that runs now. */
  readonly postgresPid: number | undefined;
  usage(): Usage;
  /**
   * Runs one function with an event, as a direct invocation.
   * @throws InvocationError
   */
  invoke(functionName: string, event: unknown): Promise<unknown>;
  /**
   * Makes the messages of a queue that are hidden after a failed delivery visible at once.
   * @returns how many there were
   */
  redeliver(queue: string): number;
  /** Over within 5 s. */
  stop(): Promise<void>;
}

/** For events that run, before their containers are ended. Postgres gets the rest of the 5 s. */
const GRACE_MS = 2_000;

/** For the function: a page asks for many things at once. */
const REPLAY_PATIENCE_MS = 30_000;

/** Of tools that look into the database, beside those of the containers. */
const OTHER_CONNECTIONS = 20;

/** @throws AlreadyRunning, the listen error of the port, and Errors that list what is wrong with the configuration */
export async function startRuntime(options: RuntimeOptions): Promise<Runtime> {
  const env = options.env ?? process.env;
  const checked = checkEnvironment(env);
  const home = takeHome(options.home);
  const { crawl4aiUrl, crawl4aiConcurrency } = checked.config;
  const topology = crawl4aiUrl === "" ? options.topology : renderedByCrawl4Ai(options.topology, crawl4aiConcurrency);
  const runtime = new RunningRuntime({ ...options, topology }, home);
  try {
    await runtime.start(env, checked);
    return runtime;
  } catch (error) {
    await runtime.stop();
    throw error;
  }
}

class RunningRuntime implements Runtime {
  readonly #options: RuntimeOptions;
  readonly #topology: Topology;
  readonly #home: Home;
  /** Of the embedded services, for this start. */
  readonly #credentials = newCredentials();
  readonly #meter = createUsageMeter();
  readonly #log;
  readonly #metrics: RuntimeMetrics;
  readonly #containers = new Map<Trust, ContainerGroup>();
  readonly #pools = new Map<string, FunctionPool>();
  readonly #pollers: Poller[] = [];
  #gateway: HttpGateway | undefined;
  #replay: ReplayGateway | undefined;
  #webSockets: WebSocketGateway | undefined;
  #services: Services | undefined;
  #stopTicking: (() => void) | undefined;
  #stopping: Promise<void> | undefined;
  env: Record<string, string> = {};
  apiKey: string | undefined;
  apiKeyIsNew = false;

  constructor(options: RuntimeOptions, home: Home) {
    this.#options = options;
    this.#topology = options.topology;
    this.#home = home;
    this.#log = openLogSink(home.path, options.show ?? (() => {}));
    const names = options.topology.functions.map(({ name }) => name);
    this.#metrics = openRuntimeMetrics(names, (error) => this.#log.fault(error));
  }

  async start(env: Environment, { config, replaced }: ReturnType<typeof checkEnvironment>): Promise<void> {
    // first, since a port that is taken is the most likely fault
    this.#gateway = await this.#openGateway();
    this.#replay = await this.#openReplay();
    this.#shareModel(config);
    const services = await startServices({
      topology: this.#topology,
      home: this.#home,
      config,
      credentials: this.#credentials,
      meter: this.#meter,
      databaseConnections: replaced.postgres ? undefined : this.#databaseConnections(config.postgresPoolSize),
      onFault: (error) => this.#log.fault(error),
      onTaskLine: (line) => this.#log.line("zimit", line),
    });
    this.#services = services;
    const found = {
      ...services.env,
      AWS_ENDPOINT_URL_APIGATEWAYMANAGEMENTAPI: this.url,
      API__URL: this.url,
      CONSOLE__PATH: "console/",
      ...(this.#replay ? { ARCHIVE__REPLAY_URL: this.#replay.url } : {}),
    };
    this.env = handlerEnvironment(found, env, config, replaced, this.#home.path);
    this.#makePools();
    await prepareResources(this.env, this.#topology, config);
    for (const { name, atDeploy } of this.#topology.functions) if (atDeploy) await this.invoke(name, {});
    await this.#prepareKey(config.apiRpm);
    // only where the schema is the application's own, as this function lays it
    if (this.#pools.has("migrate")) await freeInterruptedWork(this.env, config.stateTable, services.aws.fauxqs.queues);
    this.#meter.reset();
    if (!this.#options.onlyServices) {
      for (const pool of this.#pools.values()) this.#pollers.push(this.#poll(pool, services.aws));
      this.#stopTicking = startTicking(this.#topology, services.events);
    }
    this.#home.announce({
      pid: process.pid,
      url: this.url,
      ports: { api: this.#gateway.port, ...services.ports },
      env: announcedEnvironment(this.env, this.#credentials),
    });
    this.#gateway.open();
  }

  get url(): string {
    return `http://127.0.0.1:${this.#gateway?.port}`;
  }

  get postgresPid(): number | undefined {
    return this.#services?.postgres?.pid;
  }

  get addresses(): Addresses {
    return {
      api: this.url,
      replay: this.#replay?.url,
      s3: this.env["AWS_ENDPOINT_URL_S3"] ?? "",
      sqs: this.env["AWS_ENDPOINT_URL_SQS"] ?? "",
      dynamodb: this.env["AWS_ENDPOINT_URL_DYNAMODB"] ?? "",
      scheduler: this.env["AWS_ENDPOINT_URL_SCHEDULER"] ?? "",
      postgres: this.env["DATABASE__POSTGRES_URL"],
    };
  }

  usage(): Usage {
    return this.#meter.read();
  }

  metrics(): Family[] {
    const queues = this.#services?.aws.fauxqs.queues;
    return this.#metrics.families({ pools: this.#pools.values(), queues, usage: this.usage() });
  }

  async invoke(functionName: string, event: unknown, sink?: StreamSink, patienceMs?: number): Promise<unknown> {
    const pool = this.#pools.get(functionName);
    if (pool === undefined)
      throw new Error(`There is no function ${functionName}: ${[...this.#pools.keys()].join(", ")}`);
    return await pool.invoke(event, sink, patienceMs);
  }

  redeliver(name: string): number {
    const queue = this.#services?.aws.fauxqs.queues.getQueueByName(name);
    if (queue === undefined) throw new Error(`There is no queue ${name}`);
    const handles = [...queue.inflightMessages.keys()];
    for (const handle of handles) queue.changeVisibility(handle, 0);
    return handles.length;
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    this.#gateway?.close();
    this.#replay?.close();
    this.#stopTicking?.();
    for (const poller of this.#pollers) poller.stop();
    await Promise.all([...this.#pools.values()].map((pool) => pool.stop(GRACE_MS)));
    await Promise.all([...this.#containers.values()].map((group) => group.stop()));
    this.#webSockets?.close();
    this.#gateway?.destroy();
    this.#replay?.destroy();
    await this.#services?.stop();
    await this.#log.close();
    this.#home.release();
  }

  async #openGateway(): Promise<HttpGateway> {
    const pages = createConsolePages({
      others: () => ({ replay: this.#replay?.url, storage: this.addresses.s3 }),
      onFault: (error) => this.#log.fault(error),
    });
    const gateway = await startHttpGateway({
      topology: this.#topology,
      port: this.#options.port ?? 0,
      invoke: (name, event, sink, patienceMs) => this.invoke(name, event, sink, patienceMs),
      onRequest: () => this.#meter.count("apigateway", "Request"),
      onFault: (error) => this.#log.fault(error),
      own: (request, response, url) =>
        this.#webSockets?.manage(request, response, url) ||
        answerOwnPage(this, request, response, url) ||
        pages.answer(request, response, url),
    });
    const webSocketFunction = this.#topology.functions.find(({ websocket }) => websocket);
    if (webSocketFunction) {
      this.#webSockets = openWebSocketGateway({
        server: gateway.server,
        isOpen: () => gateway.isOpen,
        signatures: createSignatureCheck(this.#credentials),
        invoke: (event) => this.invoke(webSocketFunction.name, event),
        onMessage: (operation) => this.#meter.count("apigateway", operation),
        onFault: (error) => this.#log.fault(error),
      });
    }
    return gateway;
  }

  /** undefined where no function serves an origin of its own. */
  async #openReplay(): Promise<ReplayGateway | undefined> {
    const behind = this.#topology.functions.find(({ ownOrigin }) => ownOrigin);
    if (behind === undefined) return undefined;
    return await startReplayGateway({
      port: this.#options.replayPort ?? 0,
      isOpen: () => this.#gateway?.isOpen ?? false,
      invoke: (event, sink) => this.invoke(behind.name, event, sink, REPLAY_PATIENCE_MS),
      onFault: (error) => this.#log.fault(error),
    });
  }

  /** undefined where no function asks for a database. */
  #databaseConnections(poolSize: number): number | undefined {
    const withDatabase = this.#topology.functions.filter(({ grants }) => grants.database);
    if (withDatabase.length === 0) return undefined;
    return poolSize * withDatabase.reduce((sum, spec) => sum + this.#containersOf(spec), 0) + OTHER_CONNECTIONS;
  }

  #containersOf({ localContainers }: FunctionSpec): number {
    return localContainers * (this.#options.deliverTwice ? 2 : 1);
  }

  #makePools(): void {
    const directory = resolve(this.#options.functionsDirectory ?? join(import.meta.dirname, "..", "functions"));
    for (const spec of this.#topology.functions) {
      this.#pools.set(
        spec.name,
        new FunctionPool({
          spec,
          containers: this.#containersOf(spec),
          handler: join(directory, spec.name, "handler.ts"),
          group: this.#groupOf(trustOf(spec)),
          onInvocation: (each, durationMs, fault) => {
            this.#meter.countInvocation(each, durationMs);
            this.#metrics.invocation(each.name, durationMs, fault);
          },
        }),
      );
    }
  }

  /** Where a model comes along, its weights are read once for all threads. */
  #shareModel(config: Config): void {
    const embeds = this.#topology.functions.some(({ grants }) => grants.embedder);
    if (!embeds || embedderDescriptor(config) !== STATIC_DESCRIPTOR) return;
    try {
      shareWeights(modelDirectory(config.embedderModelPath));
    } catch (error) {
      // whoever embeds says so as well, and readiness does
      this.#log.fault(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #groupOf(trust: Trust): ContainerGroup {
    const known = this.#containers.get(trust);
    if (known !== undefined) return known;
    const members = this.#topology.functions.filter((spec) => trustOf(spec) === trust);
    const group = new ContainerGroup({
      name: trust,
      memoryMb: Math.max(...members.map(({ memoryMb }) => memoryMb)),
      env: environmentOf(trust, this.env),
      onLine: (name, line) => {
        this.#log.line(name, line);
        this.#metrics.line(line);
      },
    });
    this.#containers.set(trust, group);
    return group;
  }

  async #prepareKey(rateLimitRpm: number): Promise<void> {
    const databaseUrl = this.env["DATABASE__POSTGRES_URL"];
    const wanted = this.#options.adminKey ?? this.#pools.has("migrate");
    if (!wanted || databaseUrl === undefined) return;
    const { key, isNew } = await ensureAdminKey({ databaseUrl, home: this.#home.path, apiUrl: this.url, rateLimitRpm });
    this.apiKey = key;
    this.apiKeyIsNew = isNew;
  }

  #poll(pool: FunctionPool, aws: LocalAws): Poller {
    return startPoller({
      pool,
      triggers: [...(pool.spec.queues ?? []), asyncTrigger(pool.spec)],
      queues: aws.fauxqs.queues,
      deliverTwice: this.#options.deliverTwice ?? false,
      onCall: (operation) => this.#meter.count("sqs", operation),
      onFault: (error) => this.#log.fault(error),
    });
  }
}

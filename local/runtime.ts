/** Everything on one machine: the services, the handlers of a topology in worker threads, and what wakes them. */
import { join, resolve } from "node:path";
import type { FunctionSpec, Topology } from "../infra/topology/spec.ts";
import { ensureAdminKey } from "./admin-key.ts";
import { asyncTrigger, createAsyncEvents, startTicking } from "./async-events.ts";
import { type LocalAws, startAws } from "./aws.ts";
import { checkEnvironment, type Environment, handlerEnvironment } from "./environment.ts";
import { FunctionPool } from "./function-pool.ts";
import { type Home, takeHome } from "./home.ts";
import { type HttpDoor, startHttpDoor } from "./http-door.ts";
import type { StreamSink } from "./invocation.ts";
import { openLogSink } from "./log-sink.ts";
import { notifyOfObjects } from "./object-events.ts";
import { type PostgresServer, startPostgres } from "./postgres.ts";
import { freeInterruptedWork, prepareResources } from "./prepare.ts";
import { type Poller, startPoller } from "./queue-poller.ts";
import { type LocalScheduler, startScheduler } from "./scheduler/scheduler-server.ts";
import { createUsageMeter, meterFauxqs, type Usage } from "./usage.ts";
import { openWebSocketDoor, type WebSocketDoor } from "./websocket-door.ts";

export interface RuntimeOptions {
  topology: Topology;
  /** Where state lives. */
  home: string;
  /** Of the API on 127.0.0.1; 0: any free one. */
  port?: number;
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
  /** Runs one function with an event, as a direct invocation. @throws InvocationError */
  invoke(functionName: string, event: unknown): Promise<unknown>;
  /** Makes the messages of a queue that are hidden after a failed delivery visible at once. @returns how many there were */
  redeliver(queue: string): number;
  /** Over within 5 s. */
  stop(): Promise<void>;
}

/** Keyed by the content of each file, so all runtimes share it; where it cannot be written, Node does without. */
const COMPILE_CACHE = join(import.meta.dirname, "..", "node_modules", ".cache", "strandline");

/** For events that run, before their containers are ended. Postgres gets the rest of the 5 s. */
const GRACE_MS = 2_000;

/** Of tools that look into the database, beside those of the containers. */
const OTHER_CONNECTIONS = 20;

/** @throws AlreadyRunning, the listen error of the port, and Errors that list what is wrong with the configuration */
export async function startRuntime(options: RuntimeOptions): Promise<Runtime> {
  const env = options.env ?? process.env;
  const checked = checkEnvironment(env);
  const home = takeHome(options.home);
  const runtime = new RunningRuntime(options, home);
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
  readonly #meter = createUsageMeter();
  readonly #log;
  readonly #pools = new Map<string, FunctionPool>();
  readonly #pollers: Poller[] = [];
  #door: HttpDoor | undefined;
  #webSockets: WebSocketDoor | undefined;
  #aws: LocalAws | undefined;
  #postgres: PostgresServer | undefined;
  #scheduler: LocalScheduler | undefined;
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
  }

  async start(env: Environment, { config, replaced }: ReturnType<typeof checkEnvironment>): Promise<void> {
    const home = this.#home.path;
    const ports = this.#home.previous?.ports ?? {};
    // first, since a port that is taken is the most likely fault
    this.#door = await this.#openDoor();
    const needsDatabase = this.#topology.functions.some(({ grants }) => grants.database) && !replaced.postgres;
    const [aws, postgres] = await Promise.all([
      this.#startAws(config.bucket),
      needsDatabase ? this.#startPostgres(config.postgresPoolSize, ports.postgres) : undefined,
    ]);
    const events = createAsyncEvents(aws.fauxqs, this.#topology);
    this.#sendEvent = events.send;
    this.#scheduler = await startScheduler({
      port: ports.scheduler ?? 0,
      file: join(home, "schedules.json"),
      groups: [config.schedulerGroup],
      fire: (arn, event) => this.#fire(arn, event),
      onCall: (operation) => this.#meter.count("scheduler", operation),
    });
    const services = {
      ...aws.env,
      AWS_ENDPOINT_URL_SCHEDULER: this.#scheduler.url,
      AWS_ENDPOINT_URL_APIGATEWAYMANAGEMENTAPI: this.url,
      ...(postgres ? { DATABASE__POSTGRES_URL: postgres.url } : {}),
    };
    this.env = handlerEnvironment(services, env, config, replaced, home);
    this.#makePools();
    await prepareResources(this.env, this.#topology, config);
    for (const { name, atDeploy } of this.#topology.functions) if (atDeploy) await this.invoke(name, {});
    await this.#prepareKey(config.apiRpm);
    // only where the schema is the application's own, as this function lays it
    if (this.#pools.has("migrate")) await freeInterruptedWork(this.env, config.stateTable, aws.fauxqs.queues);
    this.#meter.reset();
    if (!this.#options.onlyServices) {
      for (const pool of this.#pools.values()) this.#pollers.push(this.#poll(pool, aws));
      this.#stopTicking = startTicking(this.#topology, events);
    }
    this.#home.announce({
      pid: process.pid,
      url: this.url,
      ports: {
        api: this.#door.port,
        ...aws.ports,
        scheduler: this.#scheduler.port,
        ...(postgres ? { postgres: postgres.port } : {}),
      },
      env: this.env,
    });
    this.#door.open();
  }

  get url(): string {
    return `http://127.0.0.1:${this.#door?.port}`;
  }

  get postgresPid(): number | undefined {
    return this.#postgres?.pid;
  }

  get addresses(): Addresses {
    return {
      api: this.url,
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

  async invoke(functionName: string, event: unknown, sink?: StreamSink, patienceMs?: number): Promise<unknown> {
    const pool = this.#pools.get(functionName);
    if (pool === undefined)
      throw new Error(`There is no function ${functionName}: ${[...this.#pools.keys()].join(", ")}`);
    return await pool.invoke(event, sink, patienceMs);
  }

  redeliver(name: string): number {
    const queue = this.#aws?.fauxqs.queues.getQueueByName(name);
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
    this.#door?.close();
    this.#stopTicking?.();
    for (const poller of this.#pollers) poller.stop();
    await Promise.all([...this.#pools.values()].map((pool) => pool.stop(GRACE_MS)));
    this.#webSockets?.close();
    this.#door?.destroy();
    await Promise.all([this.#scheduler?.stop(), this.#aws?.stop(), this.#postgres?.stop()]);
    await this.#log.close();
    this.#home.release();
  }

  async #openDoor(): Promise<HttpDoor> {
    const door = await startHttpDoor({
      topology: this.#topology,
      port: this.#options.port ?? 0,
      invoke: (name, event, sink, patienceMs) => this.invoke(name, event, sink, patienceMs),
      onRequest: () => this.#meter.count("apigateway", "Request"),
      onFault: (error) => this.#log.fault(error),
      own: (request, response, url) => {
        if (this.#webSockets?.manage(request, response, url)) return true;
        if (request.method !== "GET" || url.pathname !== "/_local/usage") return false;
        response.writeHead(200, { "content-type": "application/json" });
        response.end(JSON.stringify(this.usage()));
        return true;
      },
    });
    const webSocketFunction = this.#topology.functions.find(({ websocket }) => websocket);
    if (webSocketFunction) {
      this.#webSockets = openWebSocketDoor({
        server: door.server,
        isOpen: () => door.isOpen,
        invoke: (event) => this.invoke(webSocketFunction.name, event),
        onMessage: (operation) => this.#meter.count("apigateway", operation),
        onFault: (error) => this.#log.fault(error),
      });
    }
    return door;
  }

  async #startAws(bucket: string): Promise<LocalAws> {
    const { sqsAndS3, dynamo } = this.#home.previous?.ports ?? {};
    this.#aws = await startAws({
      directory: join(this.#home.path, "aws"),
      ports: { sqsAndS3: sqsAndS3 ?? 0, dynamo: dynamo ?? 0 },
      prepare: (app) => {
        meterFauxqs(app, this.#meter);
        notifyOfObjects(app, {
          topology: this.#topology,
          bucket,
          head: (key) => this.#aws?.fauxqs.buckets.headObject(bucket, key),
          send: (name, event) => this.#sendEvent(name, event),
        });
      },
      onDynamoCall: (operation, bytes) => this.#meter.count("dynamodb", operation, bytes),
    });
    return this.#aws;
  }

  #sendEvent = (functionName: string, _event: unknown): void => {
    throw new Error(`${functionName} cannot take events yet`);
  };

  async #startPostgres(poolSize: number, port = 0): Promise<PostgresServer> {
    const containersWithDatabase = this.#topology.functions
      .filter(({ grants }) => grants.database)
      .reduce((sum, spec) => sum + this.#containersOf(spec), 0);
    this.#postgres = await startPostgres({
      directory: join(this.#home.path, "postgres"),
      port,
      maxConnections: poolSize * containersWithDatabase + OTHER_CONNECTIONS,
      onTrouble: (error) => this.#log.fault(error),
    });
    return this.#postgres;
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
          size: this.#containersOf(spec),
          handler: join(directory, spec.name, "handler.ts"),
          env: this.env,
          compileCache: COMPILE_CACHE,
          onLine: (name, line) => this.#log.line(name, line),
          onInvocation: (each, durationMs) => this.#meter.countInvocation(each, durationMs),
        }),
      );
    }
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

  /** A schedule's target is a function by its ARN; the stack may have put a prefix before its name. */
  #fire(arn: string, event: unknown): void {
    this.#meter.count("scheduler", "Invocation");
    const name = /:function:([^:]+)/.exec(arn)?.[1] ?? "";
    const target = this.#topology.functions.find(
      (spec: FunctionSpec) => name === spec.name || name.endsWith(`-${spec.name}`),
    );
    if (target === undefined) this.#log.fault(new Error(`A schedule's target is none of the functions: ${arn}`));
    else this.#sendEvent(target.name, event);
  }
}

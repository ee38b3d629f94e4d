/** The services that the handlers use, on this machine, and the functions that their events wake. */
import { join } from "node:path";
import type { Topology } from "../infra/topology/spec.ts";
import type { Config } from "../shared/platform/config.ts";
import { type LocalAws, startAws } from "./aws/emulators.ts";
import { SqsStore } from "./aws/fauxqs.ts";
import type { EmbeddedCredentials } from "./front/credentials.ts";
import type { Home } from "./home.ts";
import { type AsyncEvents, createAsyncEvents } from "./lambda/async-events.ts";
import { notifyOfObjects } from "./lambda/object-events.ts";
import { type PostgresServer, startPostgres } from "./postgres/postgres.ts";
import { startScheduler } from "./scheduler/scheduler-server.ts";
import { startTaskServer } from "./tasks/task-server.ts";
import { meterFauxqs, type UsageMeter } from "./usage/usage.ts";

export interface ServicesOptions {
  topology: Topology;
  /** Holds their state, and the ports of the last start. */
  home: Home;
  config: Config;
  /** That callers of the services sign with. */
  credentials: EmbeddedCredentials;
  meter: UsageMeter;
  /** Connections at once that the embedded Postgres must take; undefined where none is to run. */
  databaseConnections: number | undefined;
  onFault(error: unknown): void;
  /** What tasks say. */
  onTaskLine(line: string): void;
}

export interface Services {
  aws: LocalAws;
  postgres: PostgresServer | undefined;
  /** Events for the functions of the topology. */
  events: AsyncEvents;
  /** Environment by which handlers find all this. */
  env: Record<string, string>;
  ports: { sqsAndS3: number; dynamo: number; scheduler: number; postgres?: number };
  stop(): Promise<void>;
}

/** All of them, or none: where one cannot start, the others are stopped. */
export async function startServices(options: ServicesOptions): Promise<Services> {
  const { topology, home, config, meter, databaseConnections } = options;
  const ports = home.previous?.ports ?? {};
  const running: { stop(): Promise<unknown> }[] = [];
  const stop = async () => void (await Promise.all(running.map((each) => each.stop())));
  const kept = <T extends { stop(): Promise<unknown> }>(service: T): T => {
    running.push(service);
    return service;
  };
  let events: AsyncEvents | undefined;
  const send = (functionName: string, event: unknown): void => {
    if (events === undefined) throw new Error(`${functionName} cannot take events yet`);
    events.send(functionName, event);
  };
  const startingAws = startMeteredAws(options).then(kept);
  const startingPostgres =
    databaseConnections === undefined
      ? undefined
      : startPostgres({
          directory: join(home.path, "postgres"),
          port: ports.postgres ?? 0,
          maxConnections: databaseConnections,
          onTrouble: options.onFault,
        }).then(kept);
  try {
    const [aws, postgres] = await Promise.all([startingAws, startingPostgres]);
    events = createAsyncEvents(aws.fauxqs, topology);
    const scheduler = kept(
      await startScheduler({
        port: ports.scheduler ?? 0,
        file: join(home.path, "schedules.json"),
        signatures: aws.signatures,
        groups: [config.schedulerGroup],
        fire: (arn, event) => {
          meter.count("scheduler", "Invocation");
          const queue = queueOf(topology, arn);
          const target = targetOf(topology, arn);
          if (queue !== undefined) sendTo(aws, queue, event);
          else if (target !== undefined) send(target, event);
          else options.onFault(new Error(`A schedule's target is none of the functions and queues: ${arn}`));
        },
        onCall: (operation) => meter.count("scheduler", operation),
      }),
    );
    const tasks = kept(
      await startTaskServer({
        signatures: aws.signatures,
        directory: join(home.path, "tasks"),
        command: config.zimitCommand,
        environment: () => ({ ...aws.env, STORAGE__BUCKET: config.bucket }),
        tell: (event) => sendTo(aws, "engine-events", event),
        onLine: options.onTaskLine,
      }),
    );
    return {
      aws,
      postgres,
      events,
      env: {
        ...aws.env,
        AWS_ENDPOINT_URL_ECS: tasks.url,
        ...(config.zimitCommand === "" ? {} : { ZIMIT__TASK_DEFINITION: "local" }),
        AWS_ENDPOINT_URL_SCHEDULER: scheduler.url,
        ...(postgres ? { DATABASE__POSTGRES_URL: postgres.url } : {}),
      },
      ports: { ...aws.ports, scheduler: scheduler.port, ...(postgres ? { postgres: postgres.port } : {}) },
      stop,
    };
  } catch (error) {
    await Promise.allSettled([startingAws, startingPostgres]);
    await stop();
    throw error;
  }
}

/** SQS, S3 and DynamoDB, whose calls are counted, and whose new objects are told of. */
async function startMeteredAws({ topology, home, config, meter, credentials }: ServicesOptions): Promise<LocalAws> {
  const { sqsAndS3 = 0, dynamo = 0 } = home.previous?.ports ?? {};
  const { bucket } = config;
  let aws: LocalAws | undefined;
  aws = await startAws({
    directory: join(home.path, "aws"),
    credentials,
    ports: { sqsAndS3, dynamo },
    prepare: (app) => {
      meterFauxqs(app, meter);
      notifyOfObjects(app, {
        topology,
        bucket,
        head: (key) => aws?.fauxqs.buckets.headObject(bucket, key),
        send: (name, event) => sendTo(aws, name, event),
      });
    },
    onDynamoCall: (operation, bytes) => meter.count("dynamodb", operation, bytes),
  });
  return aws;
}

/** As a service of AWS that tells a queue of something. */
function sendTo(aws: LocalAws | undefined, name: string, event: unknown): void {
  const queue = aws?.fauxqs.queues.getQueueByName(name);
  if (queue === undefined) throw new Error(`The queue ${name} cannot be told of anything: it is not there`);
  queue.enqueue(SqsStore.createMessage(JSON.stringify(event)));
}

function queueOf({ queues }: Topology, arn: string): string | undefined {
  const target = /^arn:[^:]+:sqs:[^:]*:[^:]*:([^:]+)$/.exec(arn)?.[1];
  return queues.find(({ name }) => name === target)?.name;
}

/** A schedule's target is a function by its ARN; the stack may have put a prefix before its name. */
function targetOf({ functions }: Topology, arn: string): string | undefined {
  const target = /:function:([^:]+)/.exec(arn)?.[1] ?? "";
  return functions.find(({ name }) => target === name || target.endsWith(`-${name}`))?.name;
}

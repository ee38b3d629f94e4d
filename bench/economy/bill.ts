/** What AWS would ask for what was used, line by line: the models that stand behind the figures are here. */
import { PRICES } from "../../local/usage/prices.ts";
import type { Consumption } from "./crawl-politely.ts";

/** Dollars by line. */
export type Bill = Record<string, number>;

const GB = 1024 ** 3;
const HOUR_S = 3600;
export const MONTH_S = 730 * HOUR_S;

/** Aurora is never smaller while a connection is open: with an unfinished job it is not paused. */
const LEAST_ACU = 0.5;
/** A capacity unit is 2 GiB, and an instance of 8 GiB has one processor. */
const ACU_PER_CPU = 4;
/** Aurora grows before its processors are busy all the time. */
const BUSY = 0.7;
/** The database's largest size in a deployment that says nothing else. */
const MOST_ACU = 4;

/** @param cpus processors that the database keeps busy, on average */
export function capacityUnits(cpus: number): number {
  return Math.min(MOST_ACU, Math.max(LEAST_ACU, (cpus * ACU_PER_CPU) / BUSY));
}

/**
 * Dollars for a million pages. What an idle deployment does anyway is part of the idle month, and not of this.
 * @param idle what it used while nobody asked for anything
 */
export function billOfPages(crawl: Consumption, idle: Consumption): Bill {
  const idleShare = crawl.countedSeconds / idle.countedSeconds;
  const net = (of: (each: Consumption) => number) => Math.max(0, of(crawl) - idleShare * of(idle));
  const service = (name: string) => net(({ usage }) => usage.usd[name] ?? 0);
  const gbSeconds = (name: string) => net(({ usage }) => usage.functions[name]?.gbSeconds ?? 0);
  const others = Object.keys(crawl.usage.functions).filter((name) => !["fetch", "ingest"].includes(name));
  const acu = capacityUnits(crawl.postgresCpuMs / 1000 / crawl.seconds);
  const bill: Bill = {
    "fetch: time": gbSeconds("fetch") * PRICES.lambdaGbSecond,
    "ingest: time": gbSeconds("ingest") * PRICES.lambdaGbSecond,
    "other functions: time": sum(others.map(gbSeconds)) * PRICES.lambdaGbSecond,
    "functions: requests":
      sum(Object.keys(crawl.usage.functions).map((name) => net((each) => invocations(each, name)))) *
      PRICES.lambdaRequest,
    "queues: requests": service("sqs"),
    "bucket: requests": service("s3"),
    "bucket: a month": (net(storedBytes) / GB) * PRICES.s3GbMonth,
    "state table: requests": service("dynamodb"),
    "API: requests": service("apigateway"),
    "database: capacity": (acu * crawl.seconds * PRICES.auroraAcuHour) / HOUR_S,
    "database: its log": (net(({ logBytes }) => logBytes) / PRICES.auroraIoBytes) * PRICES.auroraIo,
    "database: a month": (net(({ databaseBytes }) => databaseBytes) / GB) * PRICES.auroraGbMonth,
  };
  return perMillion(bill, crawl.pages);
}

/** A task of the fetch service, and the messages for which one is enough: see infra/constructs/fetch-service.ts. */
const FETCHER = { cpus: 0.5, gb: 1, messages: 60 };

/**
 * The same pages where fetch is a service of Fargate, on demand, which is there as long as the crawl takes.
 * @param bill with the function
 * @param hosts each of which has a message at a time
 */
export function billOnFargate(bill: Bill, crawl: Consumption, hosts: number): Bill {
  const tasks = Math.ceil(hosts / FETCHER.messages);
  const hour = FETCHER.cpus * PRICES.fargateCpuHour + FETCHER.gb * PRICES.fargateGbHour + PRICES.publicAddressHour;
  return { ...bill, ...perMillion({ "fetch: time": (tasks * hour * crawl.seconds) / HOUR_S }, crawl.pages) };
}

const invocations = ({ usage }: Consumption, name: string): number => usage.functions[name]?.invocations ?? 0;

const storedBytes = ({ usage }: Consumption): number =>
  (usage.bytes["s3.PutObject"] ?? 0) + (usage.bytes["s3.UploadPart"] ?? 0);

const perMillion = (bill: Bill, pages: number): Bill =>
  Object.fromEntries(Object.entries(bill).map(([line, usd]) => [line, (usd * 1_000_000) / pages]));

export interface StandingParts {
  endpoints: number;
  alarms: number;
  dashboards: number;
  secrets: number;
  /** Queues that wake a function. */
  triggers: number;
  /** Queues that a schedule asks, times how often in a minute. */
  drainedQueuesPerMinute: number;
}

/** Long polls of Lambda at each trigger, and how long one waits for a message, in seconds. */
const POLLERS = 5;
const POLL_S = 20;

/**
 * Dollars for a month in which nobody asks for anything, and the database sleeps.
 * @param idle what was used meanwhile: the schedules and what they wake
 */
export function billOfIdleMonth(parts: StandingParts, idle: Consumption): Bill {
  const months = idle.countedSeconds / MONTH_S;
  return {
    "interface endpoints": (parts.endpoints * PRICES.interfaceEndpointHour * MONTH_S) / HOUR_S,
    alarms: parts.alarms * PRICES.alarmMonth,
    dashboard: parts.dashboards * PRICES.dashboardMonth,
    secrets: parts.secrets * PRICES.secretMonth,
    "empty polls": ((parts.triggers * POLLERS * MONTH_S) / POLL_S) * PRICES.sqsRequest,
    "emptied queues": ((parts.drainedQueuesPerMinute * MONTH_S) / 60) * PRICES.sqsRequest,
    "schedules and what they wake": (idle.usage.totalUsd - (idle.usage.usd["apigateway"] ?? 0)) / months,
  };
}

export const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);
export const total = (bill: Bill): number => sum(Object.values(bill));

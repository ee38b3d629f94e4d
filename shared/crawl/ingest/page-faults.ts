/** What may keep a batch from being stored: too little time, or a page that the database refuses. */
import type { Capture } from "../../capture/capture.ts";
import { boundExtraction } from "../../extract/bounds.ts";
import { isRefusedData, limitStatements, type Transaction } from "../../platform/database/database.ts";
import { RetryableError } from "../../platform/errors.ts";
import type { IngestDependencies } from "./dependencies.ts";

/** What ingest must know of the delivery of its message. */
export interface IngestDelivery {
  /** 1 for the first one. */
  receiveCount: number;
  /** Until the function is stopped, in ms. */
  remainingMs(): number;
}

export const UNHURRIED: IngestDelivery = { receiveCount: 1, remainingMs: () => 600_000 };
/** Of the function's time, kept for what follows a statement that took too long. */
const RESERVE_MS = 15_000;
/** With less for a statement, a batch waits for another delivery; with less than the second it is not judged by it. */
const LEAST_STATEMENT_MS = 5000;
export const FAIR_STATEMENT_MS = 30_000;

/** A batch that comes more often is halved: whoever had it before may have been killed by it, and could not say so. */
export const WHOLE_DELIVERIES = 2;
export const cameTooOften = ({ receiveCount }: IngestDelivery): Error =>
  new Error(`It was delivered ${receiveCount} times`);

/** Batches of a version before may hold more than is kept of a page. */
export const bounded = (capture: Capture): Capture =>
  capture.extraction === null ? capture : { ...capture, extraction: boundExtraction(capture.extraction) };

/** Gives a transaction the time that each of its statements may take. */
export interface StatementClock {
  /** What the last transaction was given. */
  givenMs: number;
  start(tx: Transaction): Promise<void>;
}

export function statementClock({ remainingMs }: IngestDelivery): StatementClock {
  return {
    givenMs: 0,
    async start(tx) {
      // others may have used the connection until this moment
      this.givenMs = remainingMs() - RESERVE_MS;
      if (this.givenMs < LEAST_STATEMENT_MS) throw tookTooLong();
      await limitStatements(tx, this.givenMs);
    },
  };
}

export const UNLIMITED: StatementClock = { givenMs: 0, start: async () => undefined };

export const tookTooLong = (cause?: unknown): RetryableError =>
  new RetryableError("There is not enough time left for the batch: it comes again", { code: "OUT_OF_TIME", cause });

/** The database refuses a value, or a computation gives up on it (a stack or string too long): it would do so again. */
export const isFaultOfAPage = (error: unknown): boolean =>
  isRefusedData(error) || error instanceof RangeError || error instanceof TypeError;

export type Ingesting = IngestDependencies & { clock: StatementClock };

export function withoutText(capture: Capture, reason: string): Capture {
  const message = `The text of the page cannot be stored: ${reason}`;
  return { ...capture, extraction: null, error: { code: "EXTRACT_FAILED", message, retryable: false } };
}

export type {
  Answer,
  Args,
  CallOptions,
  Client,
  ClientOptions,
  Item,
  LinesName,
  ListName,
  OperationName,
  StreamName,
} from "./client.ts";
export { createClient } from "./client.ts";
export { ApiError, ConnectionError } from "./errors.ts";
export type * from "./types.ts";

/** The OpenAPI document as its reference reads it. */

export interface Schema {
  $ref?: string;
  type?: string | string[];
  format?: string;
  description?: string;
  enum?: readonly unknown[];
  const?: unknown;
  default?: unknown;
  properties?: Record<string, Schema>;
  required?: readonly string[];
  additionalProperties?: boolean | Schema;
  items?: Schema;
  prefixItems?: readonly Schema[];
  anyOf?: readonly Schema[];
  oneOf?: readonly Schema[];
  allOf?: readonly Schema[];
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  minProperties?: number;
  pattern?: string;
}

export interface Parameter {
  name: string;
  in: "path" | "query" | "header";
  required?: boolean;
  description?: string;
  schema: Schema;
}

/** By content type; of streams what each record is, too. */
export type Contents = Record<string, { schema: Schema; "x-item-schema"?: Schema }>;

/** What there is in a content. */
export const shownOf = (media: Contents[string]): Schema => media["x-item-schema"] ?? media.schema;
export interface Reference {
  $ref: string;
}
export interface Response {
  description: string;
  content?: Contents;
}

export interface Operation {
  operationId: string;
  tags: readonly string[];
  summary: string;
  /** No entry: without a key. */
  security: readonly Record<string, unknown>[];
  /** Which key it needs. */
  description: string;
  parameters?: readonly Parameter[];
  requestBody?: { required?: boolean; content: Contents };
  responses: Record<string, Response | Reference>;
  /** By status. */
  "x-error-codes"?: Readonly<Record<string, readonly string[]>>;
}

export interface ApiDocument {
  info: { title: string; version: string; description: string };
  servers: { url: string; description?: string }[];
  tags: readonly { name: string; description: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema>; responses: Record<string, Response> };
}

/** An operation with where it is. */
export interface Place {
  method: string;
  path: string;
  operation: Operation;
}

/** Every operation, in the order of the document; a HEAD is that of its GET. */
export const operationsOf = ({ paths }: ApiDocument): Place[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([method]) => method !== "head")
      .map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );

export const nameOf = (reference: string): string => reference.split("/").at(-1) ?? "";

export const responseOf = ({ components }: ApiDocument, response: Response | Reference): Response =>
  "$ref" in response ? (components.responses[nameOf(response.$ref)] ?? { description: "" }) : response;

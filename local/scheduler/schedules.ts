/** Schedules as they are asked for and kept, with AWS's own words for what is wrong. */
import { z } from "zod";
import { ACCOUNT, REGION } from "../aws/emulators.ts";
import { parseExpression } from "./expression.ts";

/** An error as the service's own, by its name and HTTP status. */
export class SchedulerError extends Error {
  readonly type: string;
  readonly status: number;

  constructor(type: "ValidationException" | "ConflictException" | "ResourceNotFoundException", message: string) {
    super(message);
    this.type = type;
    this.status = { ValidationException: 400, ConflictException: 409, ResourceNotFoundException: 404 }[type];
  }
}

const NAME = /^[0-9a-zA-Z-_.]{1,64}$/;
const name = z.string().regex(NAME);
/** Seconds since the Unix epoch, as the REST JSON protocol writes dates. */
const date = z.number();

const settingsSchema = z.object({
  GroupName: name.default("default"),
  ScheduleExpression: z.string().min(1).max(256),
  ScheduleExpressionTimezone: z.string().min(1).max(50).default("UTC"),
  StartDate: date.optional(),
  EndDate: date.optional(),
  Description: z.string().max(512).optional(),
  State: z.enum(["ENABLED", "DISABLED"]).default("ENABLED"),
  ActionAfterCompletion: z.enum(["NONE", "DELETE"]).default("NONE"),
  KmsKeyArn: z.string().optional(),
  FlexibleTimeWindow: z.object({
    Mode: z.enum(["OFF", "FLEXIBLE"]),
    MaximumWindowInMinutes: z.number().int().min(1).max(1440).optional(),
  }),
  Target: z.looseObject({
    Arn: z.string().regex(/^arn:aws[a-z-]*:[a-z0-9-]+:/),
    RoleArn: z.string().regex(/^arn:aws[a-z-]*:iam::\d{12}:role\/[\w+=,.@/-]+$/),
    Input: z.string().min(1).optional(),
    RetryPolicy: z
      .object({
        MaximumEventAgeInSeconds: z.number().int().min(60).max(86_400).optional(),
        MaximumRetryAttempts: z.number().int().min(0).max(185).optional(),
      })
      .optional(),
    DeadLetterConfig: z.object({ Arn: z.string().optional() }).optional(),
  }),
});

export type ScheduleSettings = z.infer<typeof settingsSchema>;

export const scheduleSchema = settingsSchema.extend({
  Name: name,
  CreationDate: date,
  LastModificationDate: date,
  /** Not part of the service's answers: the time it last fired, in ms. */
  firedAt: z.number().optional(),
});
export type Schedule = z.infer<typeof scheduleSchema>;

export const scheduleArn = ({ GroupName, Name }: Pick<Schedule, "GroupName" | "Name">): string =>
  `arn:aws:scheduler:${REGION}:${ACCOUNT}:schedule/${GroupName}/${Name}`;

/** @throws SchedulerError */
export function readName(text: string, field = "name"): string {
  if (NAME.test(text)) return text;
  const constraint = "Member must satisfy regular expression pattern: ^[0-9a-zA-Z-_.]+$";
  throw invalidMember(text, field, text.length > 64 ? "Member must have length less than or equal to 64" : constraint);
}

/** @throws SchedulerError naming the first fault */
export function readSettings(body: unknown): ScheduleSettings {
  const parsed = settingsSchema.safeParse(body);
  if (!parsed.success) throw firstFault(parsed.error, body);
  const settings = parsed.data;
  const { FlexibleTimeWindow: window, StartDate, EndDate } = settings;
  if ((window.Mode === "FLEXIBLE") !== (window.MaximumWindowInMinutes !== undefined)) {
    throw new SchedulerError(
      "ValidationException",
      window.Mode === "FLEXIBLE"
        ? "MaximumWindowInMinutes must be provided when Mode is set to FLEXIBLE."
        : "MaximumWindowInMinutes must not be provided when Mode is set to OFF.",
    );
  }
  if (StartDate !== undefined && EndDate !== undefined && EndDate <= StartDate) {
    throw new SchedulerError("ValidationException", "The EndDate you specify must be later than the StartDate.");
  }
  try {
    parseExpression(settings.ScheduleExpression, settings.ScheduleExpressionTimezone);
  } catch (error) {
    throw new SchedulerError("ValidationException", (error as Error).message);
  }
  return settings;
}

function firstFault(error: z.ZodError, body: unknown): SchedulerError {
  const issue = error.issues[0];
  const path = issue?.path ?? [];
  const value = path.reduce<unknown>((at, key) => (at as Record<PropertyKey, unknown> | undefined)?.[key], body);
  const member = path.map((key) => lowerFirst(String(key))).join(".");
  if (value === undefined || value === null) return invalidMember(null, member, "Member must not be null");
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return invalidMember(text, member, issue?.message ?? "it is invalid");
}

function invalidMember(value: string | null, member: string, constraint: string): SchedulerError {
  const shown = value === null ? "null" : `'${value}'`;
  return new SchedulerError(
    "ValidationException",
    `1 validation error detected: Value ${shown} at '${member}' failed to satisfy constraint: ${constraint}`,
  );
}

const lowerFirst = (text: string) => text.slice(0, 1).toLowerCase() + text.slice(1);

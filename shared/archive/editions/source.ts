/** Sources: whose pages are archived again and again, and how. */
import { z } from "zod";
import { readPassthrough } from "../engines/passthrough.ts";
import { templateFault } from "./job-name.ts";
import { toolOptionsSchema, toolOverridesSchema } from "./tool-options.ts";

export const ENGINES = ["native", "zimit"] as const;
export type Engine = (typeof ENGINES)[number];

/** In which entry pages are given. */
export const SOURCE_LANGUAGES = ["en", "fr"] as const;
export type SourceLanguage = (typeof SOURCE_LANGUAGES)[number];

/** Its captures are never public. */
export const RESERVED_SOURCE = "test";

const MOST_SEEDS = 1_000;
export const seedsSchema = z.array(z.string().min(1).max(2_048)).max(MOST_SEEDS);
export const passthroughSchema = z.array(z.string()).superRefine((args, context) => {
  for (const { index, message } of readPassthrough(args).faults) {
    context.addIssue({ code: "custom", path: [index], message });
  }
});
export const sourceCodeSchema = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,62}$/, "must be up to 63 small letters, digits, hyphens and underscores");

const text = (longest: number) => z.string().trim().min(1).max(longest);

export const sourceSchema = z.strictObject({
  code: sourceCodeSchema,
  name: text(200),
  baseUrl: z.string().max(2_048).nullable().default(null),
  description: text(2_000).nullable().default(null),
  nameTemplate: z
    .string()
    .max(200)
    .superRefine((template, context) => {
      const fault = templateFault(template);
      if (fault !== undefined) context.addIssue({ code: "custom", message: fault });
    }),
  seeds: seedsSchema.min(1),
  entryPages: z.partialRecord(z.enum(SOURCE_LANGUAGES), z.string().max(2_048)).default({}),
  engine: z.enum(ENGINES).default("native"),
  passthroughArgs: passthroughSchema.default([]),
  /** Those that differ from the defaults. */
  toolOptions: toolOverridesSchema.default({}).superRefine((options, context) => {
    const checked = toolOptionsSchema.safeParse(options);
    for (const { path, message } of checked.error?.issues ?? []) context.addIssue({ code: "custom", path, message });
  }),
  scheduleHint: text(200).nullable().default(null),
  enabled: z.boolean().default(true),
});
export type SourceDefinition = z.output<typeof sourceSchema>;

const source = (definition: z.input<typeof sourceSchema>): SourceDefinition => sourceSchema.parse(definition);

/** What an archive begins with where nothing else is given. */
export const baselineSources = (): SourceDefinition[] => [
  source({
    code: "hc",
    name: "Health Canada",
    baseUrl: "https://www.canada.ca/en/health-canada.html",
    nameTemplate: "hc-{date:%Y%m%d}",
    seeds: ["https://www.canada.ca/en/health-canada.html", "https://www.canada.ca/fr/sante-canada.html"],
    entryPages: {
      en: "https://www.canada.ca/en/health-canada.html",
      fr: "https://www.canada.ca/fr/sante-canada.html",
    },
    scheduleHint: "yearly",
  }),
  source({
    code: "phac",
    name: "Public Health Agency of Canada",
    baseUrl: "https://www.canada.ca/en/public-health.html",
    nameTemplate: "phac-{date:%Y%m%d}",
    seeds: ["https://www.canada.ca/en/public-health.html", "https://www.canada.ca/fr/sante-publique.html"],
    entryPages: {
      en: "https://www.canada.ca/en/public-health.html",
      fr: "https://www.canada.ca/fr/sante-publique.html",
    },
    scheduleHint: "yearly",
  }),
  source({
    code: RESERVED_SOURCE,
    name: "Test",
    nameTemplate: "test-{date:%Y%m%d}",
    seeds: ["https://example.org/"],
  }),
];

/** How the engine of an archive job is run: its options, and what they demand of each other. */
import { z } from "zod";

const count = (most: number) => z.int().min(1).max(most);

const fields = z.strictObject({
  /** Temporary files go once the job is indexed. */
  cleanup: z.boolean().default(false),
  /** What an earlier run of the job left is thrown away. */
  overwrite: z.boolean().default(false),
  enable_monitoring: z.boolean().default(false),
  enable_adaptive_workers: z.boolean().default(false),
  enable_vpn_rotation: z.boolean().default(false),
  initial_workers: count(64).default(1),
  log_level: z.enum(["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"]).default("INFO"),
  /** Taken, since configurations of others have it: who may read what lies in the bucket is not a matter of files. */
  relax_perms: z.boolean().default(false),
  monitor_interval_seconds: count(3_600).optional(),
  stall_timeout_minutes: count(1_440).optional(),
  /** Faults in a row that count as a storm. */
  error_threshold_timeout: count(10_000).optional(),
  error_threshold_http: count(10_000).optional(),
  min_workers: count(64).optional(),
  max_worker_reductions: z.int().min(0).max(64).optional(),
  vpn_connect_command: z.string().trim().max(1_000).optional(),
  max_vpn_rotations: z.int().min(0).max(100).optional(),
  vpn_rotation_frequency_minutes: count(1_440).optional(),
  backoff_delay_minutes: z.int().min(0).max(1_440).optional(),
});

export type ToolOptions = z.output<typeof fields>;

/** What they demand of each other, and why. */
const RULES: readonly { path: keyof ToolOptions; isBroken: (options: ToolOptions) => boolean; message: string }[] = [
  {
    path: "enable_adaptive_workers",
    isBroken: (options) => options.enable_adaptive_workers && !options.enable_monitoring,
    message: "needs enable_monitoring: whether workers are too many is seen by monitoring",
  },
  {
    path: "enable_vpn_rotation",
    isBroken: (options) => options.enable_vpn_rotation && !options.enable_monitoring,
    message: "needs enable_monitoring: when to rotate is seen by monitoring",
  },
  {
    path: "enable_vpn_rotation",
    isBroken: (options) => options.enable_vpn_rotation && (options.vpn_connect_command ?? "") === "",
    message: "needs vpn_connect_command, which connects anew",
  },
  {
    path: "min_workers",
    isBroken: ({ min_workers = 1, initial_workers }) => min_workers > initial_workers,
    message: "is above initial_workers, with which the crawl begins",
  },
];

export const toolOptionsSchema = fields.superRefine((options, context) => {
  for (const { path, isBroken, message } of RULES) {
    if (isBroken(options)) context.addIssue({ code: "custom", path: [path], message });
  }
});

/** As a source or a request names them: what is left out is as it was. */
export const toolOverridesSchema = z.record(z.string().max(100), z.unknown());

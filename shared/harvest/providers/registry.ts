/** The search providers by name. `strandline` is this system's own index, and is asked without HTTP. */
import { brave } from "./brave.ts";
import type { ProviderDialect } from "./dialect.ts";
import { google } from "./google.ts";
import { searxng } from "./searxng.ts";
import { serper } from "./serper.ts";

export const REMOTE_PROVIDERS = { serper, google, brave, searxng } satisfies Record<string, ProviderDialect>;
export type RemoteProvider = keyof typeof REMOTE_PROVIDERS;

export const OWN_PROVIDER = "strandline";
export const PROVIDER_NAMES = ["serper", "google", "brave", "searxng", OWN_PROVIDER] as const;
export type ProviderName = (typeof PROVIDER_NAMES)[number];

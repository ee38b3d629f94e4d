/** For functions whose routes anybody may ask: what counts who does. */
import { createRateLimiter } from "../../../shared/access/rate-limit.ts";
import { createReaders, type Readers } from "../../../shared/access/readers.ts";
import type { ApiContainer } from "../api/container.ts";

export function withReaders<Container extends ApiContainer>(container: Container): Container & { readers: Readers } {
  const { dynamo, config } = container;
  const limiter = createRateLimiter(dynamo, config.stateTable);
  return { ...container, readers: createReaders(limiter, config.archiveRequestsPerMinute) };
}

/** What the changes API needs, built once per container. */
import { createUrlInspector, type UrlInspector } from "../../shared/access/url-inspection.ts";
import { createLiveSlots, type LiveSlots } from "../../shared/archive/changes/live-slots.ts";
import { s3Client, sqsClient } from "../../shared/platform/aws/clients.ts";
import { createObjectStore, type ObjectStore } from "../../shared/platform/aws/objects.ts";
import { createQueueSender } from "../../shared/platform/aws/queues.ts";
import { createRemoteCaller, type RemoteCaller } from "../../shared/platform/aws/remote-call.ts";
import { systemClock } from "../../shared/platform/clock.ts";
import { once } from "../../shared/platform/once.ts";
import { type ApiContainer, createApiContainer } from "../adapters/api/container.ts";
import { withReaders } from "../adapters/archive/counted-readers.ts";

export interface ChangesApi extends ApiContainer {
  objects: ObjectStore;
  remote: RemoteCaller;
  slots: LiveSlots;
  inspector: UrlInspector;
}

export const changesApi = once((): ChangesApi => {
  const container = withReaders(createApiContainer("changes-api"));
  const { config, dynamo } = container;
  const queues = createQueueSender(sqsClient(), config.queueUrlPrefix);
  return {
    ...container,
    objects: createObjectStore(s3Client(), config.bucket),
    remote: createRemoteCaller({ queues, dynamo, clock: systemClock }, config.stateTable),
    slots: createLiveSlots(dynamo, config.stateTable),
    inspector: createUrlInspector(config.allowHosts),
  };
});

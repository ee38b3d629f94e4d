/** The CDK app: one stack per concern, built from the topology and from bundles made beforehand. */
import { join } from "node:path";
import { App, Tags, Validations } from "aws-cdk-lib";
import { AwsSolutionsChecks } from "cdk-nag";
import { type Bundle, bundleFunctions } from "./bundle.ts";
import { buildConsolePublisher, type ConsolePublisher } from "./console-publisher.ts";
import { buildDatabaseUser } from "./database-user.ts";
import { buildFetcher } from "./fetcher.ts";
import { buildLayers, type LayerFolders } from "./layers.ts";
import { readSettings, type Settings } from "./settings.ts";
import { ApiStack } from "./stacks/api.ts";
import { ConsoleStack } from "./stacks/console.ts";
import { DataStack } from "./stacks/data.ts";
import { EnginesStack } from "./stacks/engines.ts";
import { InferenceStack } from "./stacks/inference.ts";
import { NetworkStack } from "./stacks/network.ts";
import { ObservabilityStack } from "./stacks/observability.ts";
import { PipelineStack } from "./stacks/pipeline.ts";
import { RenderingStack } from "./stacks/rendering.ts";
import { ReplayStack } from "./stacks/replay.ts";
import { SocketStack } from "./stacks/socket.ts";
import { databaseConnections } from "./topology/spec.ts";
import { TOPOLOGY } from "./topology.ts";
import { buildUploader } from "./uploader.ts";

export interface Stacks {
  network: NetworkStack;
  data: DataStack;
  pipeline: PipelineStack;
  replay: ReplayStack;
  api: ApiStack;
  console: ConsoleStack;
  socket: SocketStack;
  observability: ObservabilityStack;
}

interface Tasks {
  uploader: string;
  publisher: ConsolePublisher;
  databaseUser: string;
  fetcher: string;
}

/**
 * All stacks in `app`. Account and region come from the environment at deployment, so that a synthesis needs neither.
 * @param layers folders that become layers
 * @param tasks what runs beside the functions: the folder of the uploader's image, where zimit is deployed, what brings
 *   the console's files into their bucket, and the folder of the function that makes the database's user
 */
export function createStacks(
  app: App,
  bundles: ReadonlyMap<string, Bundle>,
  layers: LayerFolders,
  { uploader, publisher, databaseUser, fetcher }: Tasks,
): Stacks {
  const settings = readSettings(app);
  refuseFewConnections(settings);
  const { name } = settings;
  const network = new NetworkStack(app, `${name}-network`, {
    description: "Strandline: the network of the private functions",
  });
  const data = new DataStack(app, `${name}-data`, {
    description: "Strandline: database, bucket and state table",
    settings,
    network,
  });
  const rendering = new RenderingStack(app, `${name}-rendering`, {
    description: "Strandline: Crawl4AI, in a network of its own, where the deployment asks for it",
    settings,
  });
  const engines = new EnginesStack(app, `${name}-engines`, {
    description: "Strandline: zimit for archive jobs, as tasks of Fargate, where the deployment asks for it",
    settings,
    data,
    uploader,
  });
  const inference = new InferenceStack(app, `${name}-inference`, {
    description: "Strandline: servers of models and vectors, where the deployment asks for them",
    settings,
    network,
    data,
  });
  const services = { rendering: rendering.service, engines: engines.engines, inference: inference.inference };
  const surroundings = { settings, bundles, layers, network, data, ...services };
  const pipeline = new PipelineStack(app, `${name}-pipeline`, {
    description: "Strandline: queues, workers and schedules",
    surroundings,
    databaseUser,
    fetcher,
  });
  // whoever asked a service that goes has to let go of it first
  if (rendering.service === undefined) rendering.addStackDependency(pipeline);
  if (engines.engines === undefined) engines.addStackDependency(pipeline);
  const replay = new ReplayStack(app, `${name}-replay`, {
    description: "Strandline: the origin on which captures are replayed",
    surroundings,
  });
  const api = new ApiStack(app, `${name}-api`, {
    description: "Strandline: the HTTPS API",
    surroundings: { ...surroundings, replayUrl: replay.url },
  });
  const console = new ConsoleStack(app, `${name}-console`, {
    description: "Strandline: the console with the API behind its origin, unless the deployment wants none",
    settings,
    api,
    data,
    replayUrl: replay.url,
    publisher,
  });
  if (console.isEmpty) for (const each of [replay, api]) each.addStackDependency(console);
  if (inference.isEmpty) for (const each of [pipeline, api]) inference.addStackDependency(each);
  const socket = new SocketStack(app, `${name}-socket`, {
    description: "Strandline: the WebSocket API",
    surroundings,
  });
  // the account's one role for the logs of API Gateway is made there
  socket.addStackDependency(api);
  const observability = new ObservabilityStack(app, `${name}-observability`, {
    description: "Strandline: alarms and a dashboard",
    settings,
    data,
    api,
  });
  // they know each other's queues and functions by name, which gives CDK no order
  for (const each of [replay, api, socket]) each.addStackDependency(pipeline);
  for (const each of [pipeline, replay, socket]) observability.addStackDependency(each);
  Tags.of(app).add("application", name);
  return { network, data, pipeline, replay, api, console, socket, observability };
}

/** Aurora takes some 190 connections for each capacity unit of its maximum, and 2,000 where it may pause. */
const CONNECTIONS_PER_ACU = 190;
const MOST_CONNECTIONS = 2000;
/** Of these, for our functions: people and AWS itself connect, too. */
const OUR_SHARE = 0.9;

/** @throws Error where functions could be refused a connection; with nothing reserved the account's limit is theirs */
function refuseFewConnections({ databaseMaxAcu, size }: Settings): void {
  if (size === "small") return;
  const connections = databaseConnections(TOPOLOGY);
  const needed = Math.ceil((2 * connections) / OUR_SHARE / CONNECTIONS_PER_ACU) / 2;
  if (connections > OUR_SHARE * MOST_CONNECTIONS || databaseMaxAcu < needed) {
    throw new Error(
      `The functions may open ${connections} connections at once: databaseMaxAcu has to be at least ${needed}, ` +
        "or size small",
    );
  }
}

/** @param bundleDirectory where the bundles and the layers are written; emptied first */
export async function createApp(app: App, bundleDirectory: string): Promise<Stacks> {
  const bundles = await bundleFunctions(bundleDirectory);
  const layers = await buildLayers(join(bundleDirectory, "layers"));
  const stacks = createStacks(app, bundles, layers, {
    uploader: await buildUploader(join(bundleDirectory, "zimit-uploader")),
    publisher: await buildConsolePublisher(join(bundleDirectory, "console-publisher")),
    databaseUser: await buildDatabaseUser(join(bundleDirectory, "database-user")),
    fetcher: await buildFetcher(join(bundleDirectory, "fetcher")),
  });
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app, { verbose: true }));
  return stacks;
}

// what `cdk deploy` runs, see cdk.json
if (import.meta.main) {
  await createApp(new App(), join(import.meta.dirname, "..", ".bundles"));
}

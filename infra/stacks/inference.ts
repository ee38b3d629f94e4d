/**
 * Servers of models and vectors, where the deployment asks for them: Text Embeddings Inference on a GPU or a CPU, a
 * reranker, Qdrant. Else an empty stack, since one that is left out of a deployment would go on running, and costing.
 */
import { CfnWaitConditionHandle, Stack, type StackProps } from "aws-cdk-lib";
import { InstanceType, type SecurityGroup } from "aws-cdk-lib/aws-ec2";
import { AmiHardwareType, Cluster, ContainerInsights } from "aws-cdk-lib/aws-ecs";
import { type ISecret, Secret } from "aws-cdk-lib/aws-secretsmanager";
import type { Construct } from "constructs";
import { acknowledge } from "../acknowledge.ts";
import { ContainerMachines } from "../constructs/inference/container-machines.ts";
import { MODEL_PORT, ModelServer } from "../constructs/inference/model-server.ts";
import { ModelsNetwork } from "../constructs/inference/models-network.ts";
import { QDRANT_PORT, QdrantServer } from "../constructs/inference/qdrant-server.ts";
import { QdrantSnapshots } from "../constructs/inference/qdrant-snapshots.ts";
import { ScaleOnQueues } from "../constructs/scale-on-queues.ts";
import { modelsDomain, type Settings } from "../settings.ts";
import { EMBED_QUEUES } from "../topology/queues.ts";
import type { DataStack } from "./data.ts";
import type { NetworkStack } from "./network.ts";

export interface InferenceStackProps extends StackProps {
  settings: Settings;
  network: NetworkStack;
  data: DataStack;
}

/** What whoever asks a server has to have. */
export interface AskedServer {
  /** Of those who ask it: nobody else gets through. */
  callers: SecurityGroup;
  key: ISecret;
}

export interface Inference {
  embedder?: AskedServer;
  reranker?: AskedServer;
  vectors?: AskedServer;
}

/** As the code has it where nothing is said. */
const EMBEDDING_MODEL = "Qwen/Qwen3-Embedding-0.6B";
const RERANKING_MODEL = "BAAI/bge-reranker-v2-m3";
/** The smallest with a GPU of 16 GB; see the costs in docs/deploy.md. */
const GPU_MACHINE = { type: "g4dn.xlarge", memoryMib: 12_288, systemDiskGib: 60 };
const EMBEDDER_SIZE = { cpu: 4096, memoryMib: 8192 };
const RERANKER_SIZE = { cpu: 2048, memoryMib: 8192 };

/** What all of them stand in. */
interface Ground {
  settings: Settings;
  awsCliImage: string;
  network: ModelsNetwork;
  cluster: Cluster;
  data: DataStack;
}

export class InferenceStack extends Stack {
  readonly inference: Inference = {};

  constructor(scope: Construct, id: string, { settings, network, data, ...props }: InferenceStackProps) {
    super(scope, id, props);
    const { name, awsCliImage, qdrantImage, teiImage, rerankImage } = settings;
    if (awsCliImage === undefined || (qdrantImage ?? teiImage ?? rerankImage) === undefined) {
      // no stack may be empty, and this costs nothing
      new CfnWaitConditionHandle(this, "Nothing");
      return;
    }
    const cluster = new Cluster(this, "Cluster", {
      vpc: network.vpc,
      clusterName: `${name}-inference`,
      containerInsightsV2: ContainerInsights.ENABLED,
      enableFargateCapacityProviders: true,
    });
    const models = new ModelsNetwork(this, "Network", { vpc: network.vpc, domain: modelsDomain(settings) });
    const ground = { settings, awsCliImage, network: models, cluster, data };
    if (teiImage !== undefined) this.inference.embedder = this.createEmbedder(ground, teiImage);
    if (rerankImage !== undefined) this.inference.reranker = this.createReranker(ground, rerankImage);
    if (qdrantImage !== undefined) this.inference.vectors = this.createVectors(ground, qdrantImage);
  }

  /** Whether it is asked for anything. */
  get isEmpty(): boolean {
    return Object.keys(this.inference).length === 0;
  }

  private createEmbedder({ settings, data, ...ground }: Ground, image: string): AskedServer {
    const asked = this.asked(ground.network, "Embedder");
    const { name, teiCompute, teiIdle, teiModel = EMBEDDING_MODEL } = settings;
    const { service } = new ModelServer(this, "Embedder", {
      ...ground,
      securityGroup: this.server(ground.network, "EmbedderServer", asked, MODEL_PORT),
      bucket: data.bucket,
      host: "tei",
      model: teiModel,
      image,
      key: asked.key,
      tasks: teiIdle === 0 ? 0 : 1,
      size: teiCompute === "cpu" ? EMBEDDER_SIZE : { gpu: this.gpu(ground).provider, memoryMib: GPU_MACHINE.memoryMib },
    });
    new ScaleOnQueues(this, "EmbedderScale", {
      service,
      clusterName: ground.cluster.clusterName,
      queues: EMBED_QUEUES.map((queue) => `${name}-${queue}`),
      idle: teiIdle,
    });
    return asked;
  }

  private gpu({ cluster, network }: Pick<Ground, "cluster" | "network">): ContainerMachines {
    return new ContainerMachines(this, "Gpu", {
      cluster,
      vpc: network.vpc,
      subnets: network.subnets,
      securityGroup: network.outgoing("GpuMachine", "The machine with a GPU: its tasks have groups of their own"),
      instanceType: new InstanceType(GPU_MACHINE.type),
      hardware: AmiHardwareType.GPU,
      systemDiskGib: GPU_MACHINE.systemDiskGib,
      count: "tasks",
    });
  }

  private createReranker({ settings, data, ...ground }: Ground, image: string): AskedServer {
    const asked = this.asked(ground.network, "Reranker");
    new ModelServer(this, "Reranker", {
      ...ground,
      securityGroup: this.server(ground.network, "RerankerServer", asked, MODEL_PORT),
      bucket: data.bucket,
      host: "reranker",
      model: settings.rerankModel ?? RERANKING_MODEL,
      image,
      key: asked.key,
      tasks: 1,
      size: RERANKER_SIZE,
    });
    return asked;
  }

  private createVectors({ settings, data, ...ground }: Ground, image: string): AskedServer {
    const { name, qdrantInstanceType, qdrantDiskGib } = settings;
    const asked = this.asked(ground.network, "Vectors");
    new QdrantServer(this, "Qdrant", {
      ...ground,
      securityGroup: this.server(ground.network, "VectorsServer", asked, QDRANT_PORT),
      host: "qdrant",
      image,
      instanceType: qdrantInstanceType,
      diskGib: qdrantDiskGib,
      key: asked.key,
    });
    new QdrantSnapshots(this, "Snapshots", {
      ...ground,
      ...asked,
      family: `${name}-qdrant-snapshots`,
      bucket: data.bucket,
      diskGib: qdrantDiskGib,
      url: `http://qdrant.${modelsDomain(settings)}:${QDRANT_PORT}`,
    });
    return asked;
  }

  private asked(network: ModelsNetwork, id: string): AskedServer {
    const key = new Secret(this, `${id}Key`, {
      description: `Strandline: the key of a server (${id.toLowerCase()}), for both sides`,
      generateSecretString: { passwordLength: 48, excludePunctuation: true },
    });
    acknowledge(key, ["SMG4"], "Both sides read it when they are deployed: a new one takes a deployment");
    return { key: key as ISecret, callers: network.callers(id, `Those who ask the ${id.toLowerCase()}`) };
  }

  private server(network: ModelsNetwork, id: string, { callers }: AskedServer, port: number): SecurityGroup {
    return network.server(id, { callers, port, description: "Those who may ask it get through, and nobody else" });
  }
}

/**
 * Text Embeddings Inference as a service of ECS. Its model comes from our bucket, so that what runs is what was put
 * there, and nothing of ours asks a hub of models.
 */
import { RemovalPolicy } from "aws-cdk-lib";
import type { SecurityGroup } from "aws-cdk-lib/aws-ec2";
import {
  type AsgCapacityProvider,
  AwsLogDriver,
  type BaseService,
  type Cluster,
  ContainerDependencyCondition,
  ContainerImage,
  CpuArchitecture,
  Ec2Service,
  Ec2TaskDefinition,
  FargateService,
  FargateTaskDefinition,
  type ICluster,
  NetworkMode,
  OperatingSystemFamily,
  type TaskDefinition,
  Secret as TaskSecret,
} from "aws-cdk-lib/aws-ecs";
import { PolicyStatement } from "aws-cdk-lib/aws-iam";
import { LogGroup, RetentionDays } from "aws-cdk-lib/aws-logs";
import type { Bucket } from "aws-cdk-lib/aws-s3";
import type { ISecret } from "aws-cdk-lib/aws-secretsmanager";
import { Construct } from "constructs";
import { acknowledge, acknowledgeObjects } from "../../acknowledge.ts";
import type { ModelsNetwork } from "./models-network.ts";

export const MODEL_PORT = 8080;

/** By its id on Hugging Face, as is the folder of the bucket. */
const folderOf = (model: string): string => `models/${model}/`;

export interface ModelServerProps {
  cluster: Cluster;
  network: ModelsNetwork;
  securityGroup: SecurityGroup;
  bucket: Bucket;
  /** The host's name, below the network's domain. */
  host: string;
  model: string;
  image: string;
  awsCliImage: string;
  key: ISecret;
  /** At first. */
  tasks: 0 | 1;
  /** Of Fargate on Arm; or the machine's whole GPU. */
  size: { cpu: number; memoryMib: number } | { gpu: AsgCapacityProvider; memoryMib: number };
}

export class ModelServer extends Construct {
  readonly service: BaseService;

  constructor(scope: Construct, id: string, props: ModelServerProps) {
    super(scope, id);
    const { size, bucket, model } = props;
    if ("gpu" in size) {
      const task = new Ec2TaskDefinition(this, "Task", {
        networkMode: NetworkMode.AWS_VPC,
        volumes: [{ name: "model", host: {} }],
      });
      this.addContainers(task, props);
      acknowledge(task, ["ECS2"], "What CDK tells a container of its GPU, which is no secret");
      this.service = new Ec2Service(this, "Service", {
        ...this.common(props),
        taskDefinition: task,
        capacityProviderStrategies: [{ capacityProvider: size.gpu.capacityProviderName, weight: 1 }],
      });
      this.service.node.addDependency(size.gpu);
    } else {
      const task = new FargateTaskDefinition(this, "Task", {
        cpu: size.cpu,
        memoryLimitMiB: size.memoryMib,
        runtimePlatform: {
          cpuArchitecture: CpuArchitecture.ARM64,
          operatingSystemFamily: OperatingSystemFamily.LINUX,
        },
        volumes: [{ name: "model" }],
      });
      this.addContainers(task, props);
      this.service = new FargateService(this, "Service", {
        ...this.common(props),
        taskDefinition: task,
        // its way to images; nobody reaches it there
        assignPublicIp: true,
      });
    }
    const { taskRole } = this.service.taskDefinition;
    const objects = `${bucket.bucketArn}/${folderOf(model)}*`;
    taskRole.addToPrincipalPolicy(new PolicyStatement({ actions: ["s3:GetObject"], resources: [objects] }));
    taskRole.addToPrincipalPolicy(
      new PolicyStatement({
        actions: ["s3:ListBucket"],
        resources: [bucket.bucketArn],
        conditions: { StringLike: { "s3:prefix": `${folderOf(model)}*` } },
      }),
    );
    acknowledgeObjects(this, bucket, [`${folderOf(model)}*`], "The files of one model, as its publisher named them");
    acknowledge(this, ["IAM5[Resource::*]"], "Logging in to ECR, which its API grants on every resource");
  }

  private common({ cluster, network, securityGroup, host, tasks }: ModelServerProps) {
    return {
      // the class says `defaultCloudMapNamespace?: INamespace | undefined` where the interface says `INamespace`
      cluster: cluster as ICluster,
      desiredCount: tasks,
      minHealthyPercent: 0,
      maxHealthyPercent: 100,
      circuitBreaker: { rollback: true },
      vpcSubnets: { subnets: network.subnets },
      securityGroups: [securityGroup],
      cloudMapOptions: { name: host, cloudMapNamespace: network.names },
    };
  }

  private addContainers(task: TaskDefinition, props: ModelServerProps): void {
    const { bucket, model, image, awsCliImage, key, host, size } = props;
    const logGroup = new LogGroup(this, "Log", {
      retention: RetentionDays.ONE_MONTH,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const logging = new AwsLogDriver({ streamPrefix: host, logGroup });
    const files = task.addContainer("model", {
      image: ContainerImage.fromRegistry(awsCliImage),
      entryPoint: ["aws"],
      command: [
        "s3",
        "cp",
        "--recursive",
        "--only-show-errors",
        `s3://${bucket.bucketName}/${folderOf(model)}`,
        "/model",
      ],
      essential: false,
      memoryReservationMiB: 256,
      logging,
    });
    const server = task.addContainer("tei", {
      image: ContainerImage.fromRegistry(image),
      command: ["--model-id", "/model", "--port", String(MODEL_PORT), "--auto-truncate"],
      portMappings: [{ containerPort: MODEL_PORT }],
      secrets: { API_KEY: TaskSecret.fromSecretsManager(key) },
      memoryReservationMiB: size.memoryMib - 256,
      ...("gpu" in size ? { gpuCount: 1 } : {}),
      logging,
    });
    files.addMountPoints({ containerPath: "/model", sourceVolume: "model", readOnly: false });
    server.addMountPoints({ containerPath: "/model", sourceVolume: "model", readOnly: true });
    server.addContainerDependencies({ container: files, condition: ContainerDependencyCondition.SUCCESS });
  }
}

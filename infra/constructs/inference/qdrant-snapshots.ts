/** A task that puts snapshots of Qdrant's collections into the bucket, every day, and brings them back when told to. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { CfnOutput, Duration, RemovalPolicy } from "aws-cdk-lib";
import type { SecurityGroup } from "aws-cdk-lib/aws-ec2";
import {
  AwsLogDriver,
  type Cluster,
  ContainerImage,
  CpuArchitecture,
  FargateTaskDefinition,
  type ICluster,
  OperatingSystemFamily,
  Secret as TaskSecret,
} from "aws-cdk-lib/aws-ecs";
import { PolicyStatement } from "aws-cdk-lib/aws-iam";
import { LogGroup, RetentionDays } from "aws-cdk-lib/aws-logs";
import type { Bucket } from "aws-cdk-lib/aws-s3";
import { type CfnSchedule, Schedule, ScheduleExpression } from "aws-cdk-lib/aws-scheduler";
import { EcsRunFargateTask } from "aws-cdk-lib/aws-scheduler-targets";
import type { ISecret } from "aws-cdk-lib/aws-secretsmanager";
import { Construct } from "constructs";
import { acknowledge, acknowledgeObjects } from "../../acknowledge.ts";
import type { ModelsNetwork } from "./models-network.ts";

const SCRIPT = join(import.meta.dirname, "../../../tasks/qdrant/snapshots.sh");

export interface QdrantSnapshotsProps {
  /** The task's family. */
  family: string;
  cluster: Cluster;
  network: ModelsNetwork;
  /** Of those who ask Qdrant. */
  callers: SecurityGroup;
  bucket: Bucket;
  url: string;
  awsCliImage: string;
  key: ISecret;
  /** GiB of Qdrant's disk: one collection's snapshot passes through the task's own. */
  diskGib: number;
}

/** What Fargate takes, in GiB. */
const LEAST_DISK = 21;
const MOST_DISK = 200;

export class QdrantSnapshots extends Construct {
  constructor(scope: Construct, id: string, props: QdrantSnapshotsProps) {
    super(scope, id);
    const { network, callers, cluster } = props;
    const task = this.createTask(props);
    this.tellNetwork(props);
    const schedule = new Schedule(this, "Daily", {
      description: "Strandline: snapshots of Qdrant into the bucket",
      schedule: ScheduleExpression.rate(Duration.days(1)),
      target: new EcsRunFargateTask(cluster as ICluster, {
        taskDefinition: task,
        vpcSubnets: { subnets: network.subnets },
        securityGroups: [callers],
        retryAttempts: 2,
        maxEventAge: Duration.hours(6),
      }),
    });
    // its way to images; the target knows public subnets by their type alone, which these are not chosen by
    const addressing = "Target.EcsParameters.NetworkConfiguration.AwsvpcConfiguration";
    (schedule.node.defaultChild as CfnSchedule).addPropertyOverride(`${addressing}.AssignPublicIp`, "ENABLED");
  }

  /** For whoever restores by hand. */
  private tellNetwork({ network, callers }: QdrantSnapshotsProps): void {
    const subnets = network.subnets.map(({ subnetId }) => subnetId).join(",");
    const { securityGroupId } = callers;
    new CfnOutput(this, "RunIn", {
      value: `awsvpcConfiguration={subnets=[${subnets}],securityGroups=[${securityGroupId}],assignPublicIp=ENABLED}`,
      description: "The network of a task that restores snapshots of Qdrant, see docs/operations.md",
    });
  }

  private createTask({ family, bucket, url, awsCliImage, key, diskGib }: QdrantSnapshotsProps): FargateTaskDefinition {
    const task = new FargateTaskDefinition(this, "Task", {
      family,
      cpu: 256,
      memoryLimitMiB: 512,
      ephemeralStorageGiB: Math.min(MOST_DISK, Math.max(LEAST_DISK, diskGib)),
      runtimePlatform: {
        cpuArchitecture: CpuArchitecture.ARM64,
        operatingSystemFamily: OperatingSystemFamily.LINUX,
      },
    });
    task.addContainer("snapshots", {
      image: ContainerImage.fromRegistry(awsCliImage),
      entryPoint: ["bash", "-c", readFileSync(SCRIPT, "utf8"), "snapshots"],
      command: ["save"],
      environment: { BUCKET: bucket.bucketName, QDRANT_URL: url },
      secrets: { QDRANT_KEY: TaskSecret.fromSecretsManager(key) },
      logging: new AwsLogDriver({
        streamPrefix: "snapshots",
        logGroup: new LogGroup(this, "Log", {
          retention: RetentionDays.ONE_MONTH,
          removalPolicy: RemovalPolicy.DESTROY,
        }),
      }),
    });
    task.taskRole.addToPrincipalPolicy(
      new PolicyStatement({
        actions: ["s3:PutObject", "s3:GetObject", "s3:AbortMultipartUpload"],
        resources: [`${bucket.bucketArn}/qdrant/*`],
      }),
    );
    task.taskRole.addToPrincipalPolicy(
      new PolicyStatement({
        actions: ["s3:ListBucket"],
        resources: [bucket.bucketArn],
        conditions: { StringLike: { "s3:prefix": "qdrant/*" } },
      }),
    );
    acknowledge(task, ["ECS2"], "The bucket's name and the server's address, which are no secrets");
    acknowledge(this, ["IAM5[Resource::*]"], "Logging in to ECR, which its API grants on every resource");
    acknowledgeObjects(this, bucket, ["qdrant/*"], "Snapshots, by the time and the names of collections");
    return task;
  }
}

/**
 * zimit as tasks of Fargate, where the deployment asks for it; else an empty stack, since one that is left out of a
 * deployment would go on, and cost. It stands in a network of its own: its browser runs the scripts of strangers.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { CfnWaitConditionHandle, Duration, RemovalPolicy, Stack, type StackProps } from "aws-cdk-lib";
import {
  GatewayVpcEndpointAwsService,
  IpAddresses,
  type IVpc,
  Peer,
  Port,
  SecurityGroup,
  SubnetType,
  Vpc,
} from "aws-cdk-lib/aws-ec2";
import { Platform } from "aws-cdk-lib/aws-ecr-assets";
import {
  AwsLogDriver,
  Cluster,
  type ContainerDefinition,
  ContainerImage,
  ContainerInsights,
  FargateTaskDefinition,
} from "aws-cdk-lib/aws-ecs";
import { PolicyStatement } from "aws-cdk-lib/aws-iam";
import type { Function as LambdaFunction } from "aws-cdk-lib/aws-lambda";
import { LogGroup, RetentionDays } from "aws-cdk-lib/aws-logs";
import type { Construct } from "constructs";
import { acknowledge, nagName } from "../acknowledge.ts";
import type { Settings } from "../settings.ts";
import type { DataStack } from "./data.ts";

export interface EnginesStackProps extends StackProps {
  settings: Settings;
  data: DataStack;
  /** Folder of which the uploader's image is built. */
  uploader: string;
}

/** What functions have to know that order tasks, and follow them. */
export interface Engines {
  environment: Record<string, string>;
  clusterArn: string;
  /** Lets a function start and stop tasks of the engine, and no others. */
  allowTasks(lambda: LambdaFunction): void;
}

const OUTPUT = "/output";
/** The longest that Fargate waits between a signal and the end, as long as it warns before it takes Spot away. */
const STOP_TIMEOUT = Duration.seconds(120);
/** A browser with four workers; see the cost page. */
const CPU_UNITS = 2048;
const MEMORY_MIB = 8192;

export class EnginesStack extends Stack {
  readonly engines: Engines | undefined;

  constructor(scope: Construct, id: string, { settings, data, uploader, ...props }: EnginesStackProps) {
    super(scope, id, props);
    const { zimitImage, zimitUploaderBase } = settings;
    if (zimitImage === undefined || zimitUploaderBase === undefined) {
      // no stack may be empty, and this costs nothing
      new CfnWaitConditionHandle(this, "Nothing");
      return;
    }
    const vpc = this.createNetwork();
    const securityGroup = new SecurityGroup(this, "Tasks", {
      vpc,
      description: "Tasks of engines: they call web sites, and nobody calls them",
      allowAllOutbound: false,
    });
    for (const port of [80, 443]) securityGroup.addEgressRule(Peer.anyIpv4(), Port.tcp(port), "web sites, and AWS");
    const cluster = new Cluster(this, "Cluster", {
      vpc,
      clusterName: `${settings.name}-engines`,
      containerInsightsV2: ContainerInsights.ENABLED,
      enableFargateCapacityProviders: true,
    });
    const task = this.createTask({ settings, data, uploader, zimitImage, zimitUploaderBase });
    const { clusterArn } = cluster;
    const subnets = vpc.publicSubnets.map(({ subnetId }) => subnetId).join(",");
    this.engines = {
      clusterArn,
      environment: {
        ZIMIT__TASK_DEFINITION: task.family,
        ZIMIT__CLUSTER: cluster.clusterName,
        ZIMIT__SUBNETS: subnets,
        ZIMIT__SECURITY_GROUP: securityGroup.securityGroupId,
      },
      allowTasks: (lambda) => this.allowTasks(lambda, { task, clusterArn }),
    };
  }

  /** Public subnets without NAT; objects go by a gateway, which is free. */
  private createNetwork(): IVpc {
    const vpc = new Vpc(this, "Vpc", {
      ipAddresses: IpAddresses.cidr("10.22.0.0/16"),
      maxAzs: 2,
      natGateways: 0,
      restrictDefaultSecurityGroup: false,
      subnetConfiguration: [{ name: "public", subnetType: SubnetType.PUBLIC, cidrMask: 20 }],
      gatewayEndpoints: { S3: { service: GatewayVpcEndpointAwsService.S3 } },
    });
    acknowledge(vpc, ["VPC7"], "Nothing of ours stands there but tasks that ask web sites, whose log names each page");
    // the class says `vpnGatewayId?: string | undefined` where the interface says `vpnGatewayId?: string`
    return vpc as IVpc;
  }

  private createTask({
    settings,
    data,
    uploader,
    zimitImage,
    zimitUploaderBase,
  }: Omit<EnginesStackProps, keyof StackProps> & {
    zimitImage: string;
    zimitUploaderBase: string;
  }): FargateTaskDefinition {
    const task = new FargateTaskDefinition(this, "Task", {
      family: `${settings.name}-zimit`,
      cpu: CPU_UNITS,
      memoryLimitMiB: MEMORY_MIB,
      ephemeralStorageGiB: settings.zimitDiskGib,
      volumes: [{ name: "output" }],
    });
    const logging = this.logDriver();
    // the task ends with it: the engine's end leaves it the time to upload
    this.mounted(
      task.addContainer("uploader", {
        image: ContainerImage.fromAsset(uploader, {
          buildArgs: { BASE: zimitUploaderBase },
          platform: Platform.LINUX_AMD64,
        }),
        essential: true,
        environment: { STORAGE__BUCKET: data.bucket.bucketName, OUTPUT },
        stopTimeout: STOP_TIMEOUT,
        logging: logging("uploader"),
      }),
    );
    this.mounted(
      task.addContainer("zimit", {
        image: ContainerImage.fromRegistry(zimitImage),
        // behind the image's own entry point
        command: ["bash", "-c", readFileSync(join(import.meta.dirname, "../../tasks/zimit/entry.sh"), "utf8")],
        essential: false,
        environment: { OUTPUT },
        stopTimeout: STOP_TIMEOUT,
        logging: logging("zimit"),
      }),
    );
    acknowledge(task, ["ECS2"], "Names of the bucket and of folders, which are no secrets");
    this.allowObjects(task, data);
    return task;
  }

  private mounted(container: ContainerDefinition): void {
    container.addMountPoints({ containerPath: OUTPUT, sourceVolume: "output", readOnly: false });
  }

  private logDriver(): (name: string) => AwsLogDriver {
    const logGroup = new LogGroup(this, "Log", {
      retention: RetentionDays.ONE_MONTH,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    return (streamPrefix) => new AwsLogDriver({ streamPrefix, logGroup });
  }

  /** What a page could do that took over the browser: write captures of engines, and what jobs are told of them. */
  private allowObjects({ taskRole }: FargateTaskDefinition, { bucket }: DataStack): void {
    const below = (prefix: string) => `${bucket.bucketArn}/${prefix}`;
    taskRole.addToPrincipalPolicy(
      new PolicyStatement({
        actions: ["s3:PutObject", "s3:AbortMultipartUpload"],
        resources: [below("archive-jobs/*"), below("warcs/engines/*")],
      }),
    );
    taskRole.addToPrincipalPolicy(
      new PolicyStatement({ actions: ["s3:GetObject"], resources: [below("archive-jobs/*")] }),
    );
    const { "Fn::ImportValue": arn } = this.resolve(Stack.of(bucket).exportValue(bucket.bucketArn));
    acknowledge(
      this,
      ["archive-jobs/*", "warcs/engines/*"].map((keys) => `IAM5[Resource::${arn}/${keys}]`),
      "Objects below known prefixes of our own bucket; their names are made at run time",
    );
    acknowledge(this, ["IAM5[Resource::*]"], "Logging in to ECR, which its API grants on every resource");
  }

  private allowTasks(
    lambda: LambdaFunction,
    { task, clusterArn }: { task: FargateTaskDefinition; clusterArn: string },
  ): void {
    const inCluster = { ArnEquals: { "ecs:cluster": clusterArn } };
    const own = (resource: string, resourceName: string) => this.formatArn({ service: "ecs", resource, resourceName });
    const taskDefinition = own("task-definition", `${task.family}:*`);
    const tasks = own("task", `${task.family.replace(/-zimit$/, "")}-engines/*`);
    const family = own("task-definition", task.family);
    const statements = [
      { actions: ["ecs:RunTask"], resources: [taskDefinition, family], conditions: inCluster },
      { actions: ["ecs:StopTask"], resources: [tasks], conditions: inCluster },
      // it names no resource
      { actions: ["ecs:ListTasks"], resources: ["*"], conditions: inCluster },
      {
        actions: ["iam:PassRole"],
        resources: [task.taskRole.roleArn, task.obtainExecutionRole().roleArn],
        conditions: { StringEquals: { "iam:PassedToService": "ecs-tasks.amazonaws.com" } },
      },
    ];
    for (const statement of statements) lambda.addToRolePolicy(new PolicyStatement(statement));
    acknowledge(
      // with its role
      lambda.node.scope ?? lambda,
      ["IAM5[Resource::*]", ...[taskDefinition, tasks].map((arn) => `IAM5[Resource::${nagName(this, arn)}]`)],
      "Tasks of one cluster, by revisions and ids that are made at run time",
    );
  }
}

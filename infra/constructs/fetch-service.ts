/**
 * Fetch as a service of Fargate, in place of the function: the same code with the same rights, on machines that AWS may
 * take away (Spot), as many as the queues ask for and none while they are empty.
 */
import { Duration, RemovalPolicy, Stack } from "aws-cdk-lib";
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
  ContainerImage,
  ContainerInsights,
  CpuArchitecture,
  FargateService,
  FargateTaskDefinition,
  type ICluster,
  OperatingSystemFamily,
} from "aws-cdk-lib/aws-ecs";
import { PolicyStatement, type Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { LogGroup, RetentionDays } from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
import { acknowledge } from "../acknowledge.ts";
import type { Settings } from "../settings.ts";
import { ScaleOnQueues } from "./scale-on-queues.ts";

export interface FetchServiceProps {
  settings: Settings;
  /** Folder of which the image is built. */
  folder: string;
  /** Names on AWS. */
  queues: readonly string[];
  /** The function's, whose rights it has. */
  role: Role;
  environment: Record<string, string>;
}

const CPU_UNITS = 512;
const MEMORY_MIB = 1024;
/** Tasks of ours that one of Fargate has at once, or that wait for it. */
const MESSAGES_EACH = 60;
/** As long as Fargate warns before it takes Spot away. */
const STOP_TIMEOUT = Duration.seconds(120);

export class FetchService extends Construct {
  constructor(scope: Construct, id: string, props: FetchServiceProps) {
    super(scope, id);
    const { settings, queues, role } = props;
    role.assumeRolePolicy?.addStatements(
      new PolicyStatement({
        actions: ["sts:AssumeRole"],
        principals: [new ServicePrincipal("ecs-tasks.amazonaws.com")],
      }),
    );
    const vpc = this.createNetwork();
    const securityGroup = new SecurityGroup(this, "Tasks", {
      vpc,
      description: "Fetch: it calls web sites, and nobody calls it",
      allowAllOutbound: false,
    });
    securityGroup.addEgressRule(Peer.anyIpv4(), Port.allTcp(), "web sites, on any port, and AWS");
    const clusterName = `${settings.name}-fetch`;
    const cluster = new Cluster(this, "Cluster", {
      vpc,
      clusterName,
      containerInsightsV2: ContainerInsights.ENABLED,
      enableFargateCapacityProviders: true,
    });
    const service = new FargateService(this, "Service", {
      // the class says `defaultCloudMapNamespace?: INamespace | undefined` where the interface says `INamespace`
      cluster: cluster as ICluster,
      taskDefinition: this.createTask(props),
      desiredCount: 0,
      minHealthyPercent: 0,
      // an image that does not start is given up, and the one before it comes back
      circuitBreaker: { rollback: true },
      capacityProviderStrategies: [{ capacityProvider: "FARGATE_SPOT", weight: 1 }],
      // its way to the internet; nobody reaches it there
      assignPublicIp: true,
      vpcSubnets: { subnetType: SubnetType.PUBLIC },
      securityGroups: [securityGroup],
    });
    new ScaleOnQueues(this, "Scaling", {
      service,
      clusterName,
      queues,
      idle: 0,
      most: settings.fetchersMost,
      messagesEach: MESSAGES_EACH,
      about: "URLs wait to be fetched",
    });
  }

  /** Public subnets without NAT; objects and states go by gateways, which are free. */
  private createNetwork(): IVpc {
    const vpc = new Vpc(this, "Vpc", {
      ipAddresses: IpAddresses.cidr("10.24.0.0/16"),
      maxAzs: 2,
      natGateways: 0,
      restrictDefaultSecurityGroup: false,
      subnetConfiguration: [{ name: "public", subnetType: SubnetType.PUBLIC, cidrMask: 20 }],
      gatewayEndpoints: {
        S3: { service: GatewayVpcEndpointAwsService.S3 },
        DynamoDB: { service: GatewayVpcEndpointAwsService.DYNAMODB },
      },
    });
    acknowledge(
      vpc,
      ["VPC7"],
      "Nothing of ours stands there but tasks that ask web sites, whose archive names each page",
    );
    // the class says `vpnGatewayId?: string | undefined` where the interface says `vpnGatewayId?: string`
    return vpc as IVpc;
  }

  private createTask({ settings, folder, role, environment }: FetchServiceProps): FargateTaskDefinition {
    const task = new FargateTaskDefinition(this, "Task", {
      family: `${settings.name}-fetch`,
      cpu: CPU_UNITS,
      memoryLimitMiB: MEMORY_MIB,
      taskRole: role,
      runtimePlatform: { cpuArchitecture: CpuArchitecture.ARM64, operatingSystemFamily: OperatingSystemFamily.LINUX },
    });
    task.addContainer("fetch", {
      image: ContainerImage.fromAsset(folder, {
        buildArgs: { BASE: settings.fetcherBase ?? "" },
        platform: Platform.LINUX_ARM64,
      }),
      environment: { ...environment, AWS_REGION: Stack.of(this).region },
      stopTimeout: STOP_TIMEOUT,
      readonlyRootFilesystem: true,
      logging: new AwsLogDriver({
        streamPrefix: "fetch",
        logGroup: new LogGroup(this, "Log", {
          retention: RetentionDays.ONE_MONTH,
          removalPolicy: RemovalPolicy.DESTROY,
        }),
      }),
    });
    acknowledge(task, ["ECS2"], "The function's settings, among which are no secrets");
    acknowledge(this, ["IAM5[Resource::*]"], "Logging in to ECR, which its API grants on every resource");
    return task;
  }
}

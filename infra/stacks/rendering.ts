/**
 * Crawl4AI as a Fargate service, where the deployment asks for it; else an empty stack, since one that is left out of a
 * deployment would go on running, and costing. It stands in a network of its own: its browser runs
 * the scripts of strangers, and nothing else of ours is there but the network interfaces of the function that asks it.
 */
import { CfnWaitConditionHandle, RemovalPolicy, Stack, type StackProps } from "aws-cdk-lib";
import {
  GatewayVpcEndpointAwsService,
  InterfaceVpcEndpointAwsService,
  IpAddresses,
  type IVpc,
  Peer,
  Port,
  SecurityGroup,
  SubnetType,
  Vpc,
} from "aws-cdk-lib/aws-ec2";
import {
  AwsLogDriver,
  Cluster,
  ContainerImage,
  ContainerInsights,
  FargateService,
  FargateTaskDefinition,
  type ICluster,
  Secret as TaskSecret,
} from "aws-cdk-lib/aws-ecs";
import { LogGroup, RetentionDays } from "aws-cdk-lib/aws-logs";
import { type ISecret, Secret } from "aws-cdk-lib/aws-secretsmanager";
import { PrivateDnsNamespace } from "aws-cdk-lib/aws-servicediscovery";
import type { Construct } from "constructs";
import { acknowledge } from "../acknowledge.ts";
import type { Settings } from "../settings.ts";

export interface RenderingStackProps extends StackProps {
  settings: Settings;
}

/** What the function has to know that asks the service. */
export interface RenderingService {
  vpc: IVpc;
  /** Of the function that asks the service: nobody else gets through. */
  callers: SecurityGroup;
  url: string;
  /** What the service asks of whoever calls it. */
  token: ISecret;
}

/** Where the service listens, by its documentation. */
const PORT = 11235;
/** Its browser keeps its tabs in shared memory. */
const MEMORY_MIB = 4096;
const CPU_UNITS = 2048;

export class RenderingStack extends Stack {
  readonly service: RenderingService | undefined;

  constructor(scope: Construct, id: string, { settings, ...props }: RenderingStackProps) {
    super(scope, id, props);
    const { crawl4aiImage, name } = settings;
    if (crawl4aiImage === undefined) {
      // no stack may be empty, and this costs nothing
      new CfnWaitConditionHandle(this, "Nothing");
      return;
    }
    const vpc = this.createNetwork() as IVpc;
    const callers = new SecurityGroup(this, "Callers", {
      vpc,
      description: "The render function: it calls, and nobody calls it",
      allowAllOutbound: true,
    });
    this.addQueueEndpoint(vpc, callers);
    const token = this.createToken();
    const domain = `${name}.internal`;
    this.service = { vpc, callers, token, url: `http://crawl4ai.${domain}:${PORT}` };
    this.createService(this.service, { name, image: crawl4aiImage, domain });
  }

  /** Public subnets for the service, which asks web sites; isolated ones for the function, which does not. No NAT. */
  private createNetwork(): Vpc {
    const vpc = new Vpc(this, "Vpc", {
      ipAddresses: IpAddresses.cidr("10.21.0.0/16"),
      maxAzs: 2,
      natGateways: 0,
      restrictDefaultSecurityGroup: false,
      subnetConfiguration: [
        { name: "service", subnetType: SubnetType.PUBLIC, cidrMask: 24, mapPublicIpOnLaunch: false },
        { name: "callers", subnetType: SubnetType.PRIVATE_ISOLATED, cidrMask: 20 },
      ],
      gatewayEndpoints: {
        S3: { service: GatewayVpcEndpointAwsService.S3 },
        DynamoDB: { service: GatewayVpcEndpointAwsService.DYNAMODB },
      },
    });
    acknowledge(
      vpc,
      ["VPC7"],
      "It holds one service and one function, and its flows would only list the crawled sites again",
    );
    return vpc;
  }

  private addQueueEndpoint(vpc: IVpc, callers: SecurityGroup): void {
    const securityGroup = new SecurityGroup(this, "Endpoint", {
      vpc,
      description: "The queues: the render function may call them",
      allowAllOutbound: false,
    });
    securityGroup.addIngressRule(callers, Port.tcp(443), "HTTPS from the render function");
    vpc.addInterfaceEndpoint("Sqs", {
      service: InterfaceVpcEndpointAwsService.SQS,
      subnets: { subnets: vpc.isolatedSubnets.slice(0, 1) },
      securityGroups: [securityGroup],
      open: false,
    });
  }

  private createToken(): ISecret {
    const token = new Secret(this, "Token", {
      description: "Strandline: the token of the Crawl4AI service, for both sides",
      generateSecretString: { passwordLength: 48, excludePunctuation: true },
    });
    acknowledge(token, ["SMG4"], "Both sides read it when they are deployed: a new one takes a deployment");
    return token as ISecret;
  }

  private createService(
    { vpc, callers, token }: RenderingService,
    { name, image, domain }: { name: string; image: string; domain: string },
  ): void {
    const securityGroup = new SecurityGroup(this, "Service", {
      vpc,
      description: "Crawl4AI: only the render function may call it",
      allowAllOutbound: false,
    });
    securityGroup.addIngressRule(callers, Port.tcp(PORT), "the render function");
    for (const port of [80, 443]) securityGroup.addEgressRule(Peer.anyIpv4(), Port.tcp(port), "web sites");
    const cluster = new Cluster(this, "Cluster", {
      vpc,
      clusterName: `${name}-rendering`,
      containerInsightsV2: ContainerInsights.ENABLED,
    });
    // its role has no permissions: the task's own credentials, which any page could try to read, open nothing
    const task = new FargateTaskDefinition(this, "Task", { cpu: CPU_UNITS, memoryLimitMiB: MEMORY_MIB });
    task.addContainer("crawl4ai", {
      image: ContainerImage.fromRegistry(image),
      portMappings: [{ containerPort: PORT }],
      // without it the image listens on loopback alone
      secrets: { CRAWL4AI_API_TOKEN: TaskSecret.fromSecretsManager(token) },
      logging: new AwsLogDriver({
        streamPrefix: "crawl4ai",
        logGroup: new LogGroup(this, "Log", {
          retention: RetentionDays.ONE_MONTH,
          removalPolicy: RemovalPolicy.DESTROY,
        }),
      }),
    });
    new FargateService(this, "Crawl4Ai", {
      // the class says `defaultCloudMapNamespace?: INamespace | undefined` where the interface says `INamespace`
      cluster: cluster as ICluster,
      taskDefinition: task,
      desiredCount: 1,
      minHealthyPercent: 0,
      // an image that does not start is given up, and the one before it comes back
      circuitBreaker: { rollback: true },
      // a public address is its way to the internet; nobody reaches it there
      assignPublicIp: true,
      vpcSubnets: { subnetType: SubnetType.PUBLIC },
      securityGroups: [securityGroup],
      cloudMapOptions: {
        name: "crawl4ai",
        cloudMapNamespace: new PrivateDnsNamespace(this, "Names", { name: domain, vpc }),
      },
    });
  }
}

/** The network of the private functions: no way to the internet, and none back. */
import { Stack, type StackProps } from "aws-cdk-lib";
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
import type { Construct } from "constructs";
import { acknowledge } from "../acknowledge.ts";

const HTTPS = Port.tcp(443);

export class NetworkStack extends Stack {
  readonly vpc: IVpc;
  /** Of every private function. */
  readonly functionSecurityGroup: SecurityGroup;

  constructor(scope: Construct, id: string, props: StackProps) {
    super(scope, id, props);
    // Aurora asks for subnets in two zones
    const vpc = new Vpc(this, "Vpc", {
      ipAddresses: IpAddresses.cidr("10.20.0.0/16"),
      maxAzs: 2,
      natGateways: 0,
      restrictDefaultSecurityGroup: false,
      subnetConfiguration: [{ name: "private", subnetType: SubnetType.PRIVATE_ISOLATED, cidrMask: 20 }],
      gatewayEndpoints: {
        S3: { service: GatewayVpcEndpointAwsService.S3 },
        DynamoDB: { service: GatewayVpcEndpointAwsService.DYNAMODB },
      },
    });
    // the class says `vpnGatewayId?: string | undefined` where the interface says `vpnGatewayId?: string`
    this.vpc = vpc as IVpc;
    this.functionSecurityGroup = new SecurityGroup(this, "Functions", {
      vpc: this.vpc,
      description: "Private functions: they call, and nobody calls them",
      allowAllOutbound: true,
    });
    this.addInterfaceEndpoint();
    acknowledge(
      this.vpc,
      ["VPC7"],
      "The subnets have no route to or from the internet, so flow logs would " +
        "only record our own functions and database",
    );
  }

  /**
   * What private functions call besides S3 and DynamoDB, whose gateways are free. In one zone: the database has one
   * writer in one zone anyway, and an endpoint costs about 7.30 USD a month for each zone. Secrets Manager has none:
   * the database knows functions by IAM, and what else is secret is read at a deployment, or outside of this network.
   */
  private addInterfaceEndpoint(): void {
    const { vpc } = this;
    const securityGroup = new SecurityGroup(this, "Endpoints", {
      vpc,
      description: "Interface endpoints: the VPC may call them",
      allowAllOutbound: false,
    });
    securityGroup.addIngressRule(Peer.ipv4(vpc.vpcCidrBlock), HTTPS, "HTTPS from the VPC");
    acknowledge(
      securityGroup,
      ["EC23"],
      "The rule names the VPC's own range, which cdk-nag cannot read because it is a reference",
    );
    const subnets = { subnets: vpc.isolatedSubnets.slice(0, 1) };
    const service = InterfaceVpcEndpointAwsService.SQS;
    vpc.addInterfaceEndpoint("Sqs", { service, subnets, securityGroups: [securityGroup], open: false });
  }
}

/**
 * Where servers of models and vectors stand: public subnets beside those of the private functions, whose way to the
 * internet is for images. No route of the functions changes, and security groups say who gets through to what.
 */
import { Fn, Stack } from "aws-cdk-lib";
import {
  CfnInternetGateway,
  CfnVPCGatewayAttachment,
  GatewayVpcEndpoint,
  GatewayVpcEndpointAwsService,
  type ISubnet,
  type IVpc,
  Peer,
  Port,
  PublicSubnet,
  SecurityGroup,
} from "aws-cdk-lib/aws-ec2";
import { PrivateDnsNamespace } from "aws-cdk-lib/aws-servicediscovery";
import { Construct } from "constructs";

/** Behind those that the private functions have. */
const BLOCKS = ["10.20.240.0/24", "10.20.241.0/24"];

export interface ModelsNetworkProps {
  vpc: IVpc;
  /** In which servers have their names. */
  domain: string;
}

export class ModelsNetwork extends Construct {
  readonly vpc: IVpc;
  /** In two zones, in an order that stays. */
  readonly subnets: ISubnet[];
  readonly names: PrivateDnsNamespace;

  constructor(scope: Construct, id: string, { vpc, domain }: ModelsNetworkProps) {
    super(scope, id);
    this.vpc = vpc;
    const gateway = new CfnInternetGateway(this, "Gateway");
    const attachment = new CfnVPCGatewayAttachment(this, "Attachment", {
      vpcId: vpc.vpcId,
      internetGatewayId: gateway.ref,
    });
    this.subnets = BLOCKS.map((cidrBlock, index) => {
      const subnet = new PublicSubnet(this, `Zone${index + 1}`, {
        vpcId: vpc.vpcId,
        // as the functions' subnets have them
        availabilityZone: Fn.select(index, Fn.getAzs(Stack.of(this).region)),
        cidrBlock,
        mapPublicIpOnLaunch: false,
      });
      subnet.addDefaultInternetRoute(gateway.ref, attachment);
      return subnet;
    });
    new GatewayVpcEndpoint(this, "S3", {
      vpc,
      service: GatewayVpcEndpointAwsService.S3,
      subnets: [{ subnets: this.subnets }],
    });
    this.names = new PrivateDnsNamespace(this, "Names", { name: domain, vpc });
  }

  /** A group that calls, and that nobody calls. */
  callers(id: string, description: string): SecurityGroup {
    return new SecurityGroup(this, `${id}Callers`, { vpc: this.vpc, description, allowAllOutbound: true });
  }

  /** A group that its callers get through to, and that gets at what answers HTTPS: images, and the bucket. */
  server(id: string, { callers, port, description }: { callers: SecurityGroup; port: number; description: string }) {
    const group = this.outgoing(id, description);
    group.addIngressRule(callers, Port.tcp(port), "who asks it");
    return group;
  }

  /** A group that nobody gets through to. */
  outgoing(id: string, description: string): SecurityGroup {
    const group = new SecurityGroup(this, id, { vpc: this.vpc, description, allowAllOutbound: false });
    group.addEgressRule(Peer.anyIpv4(), Port.tcp(443), "images, AWS and the bucket");
    return group;
  }
}

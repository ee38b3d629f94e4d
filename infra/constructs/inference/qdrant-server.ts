/**
 * Qdrant on one machine of EC2, with its points on a disk that is not the machine's: whichever machine comes next finds
 * it by its id. A disk belongs to a zone, and so does the machine.
 */
import { RemovalPolicy, Size, Stack } from "aws-cdk-lib";
import { EbsDeviceVolumeType, InstanceType, type SecurityGroup, Volume } from "aws-cdk-lib/aws-ec2";
import {
  AmiHardwareType,
  AwsLogDriver,
  type Cluster,
  ContainerImage,
  Ec2Service,
  Ec2TaskDefinition,
  type ICluster,
  NetworkMode,
  Secret as TaskSecret,
} from "aws-cdk-lib/aws-ecs";
import { PolicyStatement } from "aws-cdk-lib/aws-iam";
import { LogGroup, RetentionDays } from "aws-cdk-lib/aws-logs";
import type { ISecret } from "aws-cdk-lib/aws-secretsmanager";
import { Construct } from "constructs";
import { acknowledge } from "../../acknowledge.ts";
import { ContainerMachines } from "./container-machines.ts";
import type { ModelsNetwork } from "./models-network.ts";

export const QDRANT_PORT = 6333;

const MOUNTED = "/qdrant";
/** What Docker, the agent and the system take of the machine's memory. */
const RESERVED_MIB = 512;

export interface QdrantServerProps {
  cluster: Cluster;
  network: ModelsNetwork;
  securityGroup: SecurityGroup;
  host: string;
  image: string;
  instanceType: string;
  diskGib: number;
  key: ISecret;
}

export class QdrantServer extends Construct {
  constructor(scope: Construct, id: string, props: QdrantServerProps) {
    super(scope, id);
    const { network, cluster, instanceType, diskGib } = props;
    const [zone] = network.subnets;
    if (zone === undefined) throw new Error("The network of models has no subnet");
    const disk = new Volume(this, "Disk", {
      availabilityZone: zone.availabilityZone,
      size: Size.gibibytes(diskGib),
      volumeType: EbsDeviceVolumeType.GP3,
      encrypted: true,
      removalPolicy: RemovalPolicy.SNAPSHOT,
    });
    const machines = new ContainerMachines(this, "Machine", {
      cluster,
      vpc: network.vpc,
      subnets: [zone],
      securityGroup: network.outgoing("QdrantMachine", "The machine of Qdrant: its tasks have groups of their own"),
      instanceType: new InstanceType(instanceType),
      hardware: AmiHardwareType.ARM,
      systemDiskGib: 30,
      count: "fixed",
      prepare: mountDisk(disk.volumeId, Stack.of(this).region),
    });
    this.allowDisk(machines, disk);
    this.createService(machines, props);
  }

  private allowDisk({ role }: ContainerMachines, disk: Volume): void {
    const arn = (resource: string) => Stack.of(this).formatArn({ service: "ec2", resource });
    role.addToPrincipalPolicy(
      new PolicyStatement({ actions: ["ec2:AttachVolume"], resources: [`${arn("volume")}/${disk.volumeId}`] }),
    );
    const ofThisStack = { StringEquals: { "ec2:ResourceTag/aws:cloudformation:stack-name": Stack.of(this).stackName } };
    role.addToPrincipalPolicy(
      new PolicyStatement({
        actions: ["ec2:AttachVolume"],
        resources: [`${arn("instance")}/*`],
        conditions: ofThisStack,
      }),
    );
    acknowledge(
      role,
      ["IAM5[Resource::arn:<AWS::Partition>:ec2:<AWS::Region>:<AWS::AccountId>:instance/*]"],
      "Machines of this stack alone, by its tag; their ids are made at run time",
    );
  }

  private createService({ provider }: ContainerMachines, props: QdrantServerProps): void {
    const { cluster, network, securityGroup, host, image, key } = props;
    const task = new Ec2TaskDefinition(this, "Task", {
      networkMode: NetworkMode.AWS_VPC,
      volumes: ["storage", "snapshots"].map((name) => ({ name, host: { sourcePath: `${MOUNTED}/${name}` } })),
    });
    const container = task.addContainer("qdrant", {
      image: ContainerImage.fromRegistry(image),
      portMappings: [{ containerPort: QDRANT_PORT }],
      memoryReservationMiB: RESERVED_MIB,
      environment: { QDRANT__TELEMETRY_DISABLED: "true" },
      secrets: { QDRANT__SERVICE__API_KEY: TaskSecret.fromSecretsManager(key) },
      logging: new AwsLogDriver({
        streamPrefix: host,
        logGroup: new LogGroup(this, "Log", {
          retention: RetentionDays.ONE_MONTH,
          removalPolicy: RemovalPolicy.DESTROY,
        }),
      }),
    });
    for (const name of ["storage", "snapshots"])
      container.addMountPoints({ containerPath: `/qdrant/${name}`, sourceVolume: name, readOnly: false });
    acknowledge(task, ["ECS2"], "A switch, which is no secret");
    acknowledge(task, ["IAM5[Resource::*]"], "Logging in to ECR, which its API grants on every resource");
    const service = new Ec2Service(this, "Service", {
      // the class says `defaultCloudMapNamespace?: INamespace | undefined` where the interface says `INamespace`
      cluster: cluster as ICluster,
      taskDefinition: task,
      desiredCount: 1,
      // two at once would write into the same files
      minHealthyPercent: 0,
      maxHealthyPercent: 100,
      circuitBreaker: { rollback: true },
      capacityProviderStrategies: [{ capacityProvider: provider.capacityProviderName, weight: 1 }],
      vpcSubnets: { subnets: network.subnets.slice(0, 1) },
      securityGroups: [securityGroup],
      cloudMapOptions: { name: host, cloudMapNamespace: network.names },
    });
    service.node.addDependency(provider);
  }
}

/** A disk that holds a file system already is never made anew: `mkfs.xfs` refuses that. */
const mountDisk = (volume: string, region: string): string[] => [
  `VOLUME=${volume}`,
  "dnf install -y -q awscli-2 xfsprogs",
  "TOKEN=$(curl -fsS -X PUT -H 'X-aws-ec2-metadata-token-ttl-seconds: 300' http://169.254.169.254/latest/api/token)",
  'MACHINE=$(curl -fsS -H "X-aws-ec2-metadata-token: $TOKEN" http://169.254.169.254/latest/meta-data/instance-id)',
  "# the machine before may still hold it",
  `until aws ec2 attach-volume --region ${region} --volume-id "$VOLUME" --instance-id "$MACHINE" --device /dev/sdf`,
  "do sleep 5; done",
  'DISK=/dev/disk/by-id/nvme-Amazon_Elastic_Block_Store_$(tr -d - <<< "$VOLUME")',
  'until [ -e "$DISK" ]; do sleep 1; done',
  'blkid "$DISK" || mkfs.xfs "$DISK"',
  `echo "$DISK ${MOUNTED} xfs defaults,noatime 0 2" >> /etc/fstab`,
  `mkdir -p ${MOUNTED} && mount ${MOUNTED}`,
  // a disk that was made larger has a file system of its size again
  `xfs_growfs ${MOUNTED}`,
  `mkdir -p ${MOUNTED}/storage ${MOUNTED}/snapshots`,
];

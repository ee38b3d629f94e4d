/** Machines of EC2 for tasks of ECS: the newest image of Amazon for that, a public address to get images, no way in. */
import { AutoScalingGroup, UpdatePolicy } from "aws-cdk-lib/aws-autoscaling";
import {
  BlockDeviceVolume,
  EbsDeviceVolumeType,
  type InstanceType,
  type ISubnet,
  type IVpc,
  LaunchTemplate,
  type SecurityGroup,
  UserData,
} from "aws-cdk-lib/aws-ec2";
import { type AmiHardwareType, AsgCapacityProvider, type Cluster, EcsOptimizedImage } from "aws-cdk-lib/aws-ecs";
import { Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { Construct } from "constructs";
import { acknowledge } from "../../acknowledge.ts";

export interface ContainerMachinesProps {
  cluster: Cluster;
  vpc: IVpc;
  subnets: readonly ISubnet[];
  securityGroup: SecurityGroup;
  instanceType: InstanceType;
  hardware: AmiHardwareType;
  /** GiB of the system's disk, which holds the images. */
  systemDiskGib: number;
  /** `fixed`: one machine; `tasks`: one while a task wants it, none otherwise. */
  count: "fixed" | "tasks";
  /** Lines of the shell that run before a machine takes tasks; where one fails, it takes none. */
  prepare?: readonly string[];
}

export class ContainerMachines extends Construct {
  readonly role: Role;
  readonly provider: AsgCapacityProvider;

  constructor(scope: Construct, id: string, props: ContainerMachinesProps) {
    super(scope, id);
    this.role = new Role(this, "Role", { assumedBy: new ServicePrincipal("ec2.amazonaws.com") });
    const group = this.createGroup(props);
    const scales = props.count === "tasks";
    this.provider = new AsgCapacityProvider(this, "Provider", {
      autoScalingGroup: group,
      enableManagedScaling: scales,
      ...(scales ? { targetCapacityPercent: 100, minimumScalingStepSize: 1, maximumScalingStepSize: 1 } : {}),
      // a protected machine would hold up the removal of the stack
      enableManagedTerminationProtection: false,
      enableManagedDraining: true,
    });
    props.cluster.addAsgCapacityProvider(this.provider);
    acknowledge(
      this,
      ["IAM5[Resource::*]", "IAM5[Action::ecs:Submit*]"],
      "What the agent of ECS asks for on every resource: its own registration, and tokens for images",
    );
    acknowledge(
      this,
      ["AS3"],
      "Who looks after it is told by the age of the queue; a machine comes and goes as it should",
    );
  }

  private createGroup(props: ContainerMachinesProps): AutoScalingGroup {
    const { vpc, subnets, instanceType, hardware, securityGroup, systemDiskGib, count, prepare = [] } = props;
    const userData = UserData.forLinux();
    userData.addCommands(
      "set -euo pipefail",
      // tasks have roles of their own, and that of the machine is not theirs
      "echo ECS_AWSVPC_BLOCK_IMDS=true >> /etc/ecs/ecs.config",
      ...prepare,
    );
    const launchTemplate = new LaunchTemplate(this, "Machine", {
      instanceType,
      machineImage: EcsOptimizedImage.amazonLinux2023(hardware),
      securityGroup,
      role: this.role,
      userData,
      associatePublicIpAddress: true,
      requireImdsv2: true,
      httpPutResponseHopLimit: 1,
      blockDevices: [
        {
          deviceName: "/dev/xvda",
          volume: BlockDeviceVolume.ebs(systemDiskGib, { encrypted: true, volumeType: EbsDeviceVolumeType.GP3 }),
        },
      ],
    });
    return new AutoScalingGroup(this, "Machines", {
      vpc,
      vpcSubnets: { subnets: [...subnets] },
      launchTemplate,
      minCapacity: count === "fixed" ? 1 : 0,
      maxCapacity: 1,
      updatePolicy: UpdatePolicy.rollingUpdate({ minInstancesInService: 0, maxBatchSize: 1 }),
    });
  }
}

/**
 * Runs `tasks/database-user` at a deployment. It stands outside of the network, and is the one function that the
 * master's password and the Data API are for; nothing calls it but the deployment.
 */
import { Duration, RemovalPolicy, Stack } from "aws-cdk-lib";
import { PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { Architecture, Code, Function as LambdaFunction, Runtime } from "aws-cdk-lib/aws-lambda";
import { LogGroup, RetentionDays } from "aws-cdk-lib/aws-logs";
import { Trigger } from "aws-cdk-lib/triggers";
import { Construct } from "constructs";
import type { DataStack } from "../stacks/data.ts";

const TIMEOUT = Duration.minutes(5);

export interface DatabaseUserProps {
  /** Its folder. */
  code: string;
  data: DataStack;
}

export class DatabaseUser extends Construct {
  readonly trigger: Trigger;

  constructor(scope: Construct, id: string, { code, data }: DatabaseUserProps) {
    super(scope, id);
    const logGroup = new LogGroup(this, "Log", {
      retention: RetentionDays.ONE_MONTH,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const role = new Role(this, "Role", { assumedBy: new ServicePrincipal("lambda.amazonaws.com") });
    logGroup.grantWrite(role);
    const clusterArn = data.cluster.clusterArn;
    const { secretArn } = data.databaseSecret;
    role.addToPolicy(new PolicyStatement({ actions: ["rds-data:ExecuteStatement"], resources: [clusterArn] }));
    role.addToPolicy(new PolicyStatement({ actions: ["secretsmanager:GetSecretValue"], resources: [secretArn] }));
    const handler = new LambdaFunction(this, "Function", {
      description: `Makes the user of the database that functions come in as, for ${Stack.of(this).stackName}`,
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      code: Code.fromAsset(code),
      handler: "index.handler",
      timeout: TIMEOUT,
      memorySize: 256,
      environment: { CLUSTER_ARN: clusterArn, SECRET_ARN: secretArn, DATABASE_NAME: data.databaseName },
      logGroup,
      role,
    });
    this.trigger = new Trigger(this, "Run", { handler, timeout: TIMEOUT, executeOnHandlerChange: true });
  }
}

/**
 * What must not be lost: the database and the bucket, with the queues that it tells of uploads; and the table of
 * short-lived state.
 */
import { ArnFormat, CfnOutput, Duration, RemovalPolicy, Stack, type StackProps } from "aws-cdk-lib";
import { AttributeType, BillingMode, Table } from "aws-cdk-lib/aws-dynamodb";
import { Port, SecurityGroup, SubnetType } from "aws-cdk-lib/aws-ec2";
import { PolicyStatement, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import {
  AuroraPostgresEngineVersion,
  ClusterInstance,
  Credentials,
  DatabaseCluster,
  DatabaseClusterEngine,
  ParameterGroup,
} from "aws-cdk-lib/aws-rds";
import {
  BlockPublicAccess,
  Bucket,
  BucketEncryption,
  type CfnBucket,
  type CorsRule,
  HttpMethods,
  StorageClass,
} from "aws-cdk-lib/aws-s3";
import { type ISecret, Secret } from "aws-cdk-lib/aws-secretsmanager";
import type { Queue } from "aws-cdk-lib/aws-sqs";
import type { Construct } from "constructs";
import { acknowledge } from "../acknowledge.ts";
import { createQueuePair } from "../constructs/queue-pair.ts";
import type { Settings } from "../settings.ts";
import { TOPOLOGY } from "../topology.ts";
import type { NetworkStack } from "./network.ts";

const DATABASE_NAME = "strandline";
/** Of the database, not of IAM: made by `tasks/database-user`. */
const FUNCTIONS_USER = "strandline_functions";
const POSTGRES_PORT = 5432;

export interface DataStackProps extends StackProps {
  settings: Settings;
  network: NetworkStack;
}

export class DataStack extends Stack {
  readonly bucket: Bucket;
  readonly stateTable: Table;
  readonly cluster: DatabaseCluster;
  /** Keys of search and model providers, by the names of their variables: filled in by whoever deploys. */
  readonly providerKeys: Secret;
  /** Holds the password of the master user; RDS made it and rotates it every seven days. */
  readonly databaseSecret: ISecret;
  readonly databaseName = DATABASE_NAME;
  /** Of the user that functions are, who has no password; with verified TLS. */
  readonly databaseUrl: string;
  /** To come in as that user, and as no other. */
  readonly databaseUserArn: string;

  constructor(scope: Construct, id: string, props: DataStackProps) {
    super(scope, id, props);
    this.bucket = this.createBucket(props.settings);
    this.notifyOfObjects(props.settings);
    this.stateTable = this.createStateTable();
    this.providerKeys = this.createProviderKeys();
    new CfnOutput(this, "ProviderKeysSecret", {
      value: this.providerKeys.secretName,
      description: "The secret that takes the keys of search and model providers",
    });
    this.cluster = this.createCluster(props);
    const { secret } = this.cluster;
    if (secret === undefined) throw new Error("The cluster has no secret, though RDS manages its password");
    this.databaseSecret = secret;
    const { hostname } = this.cluster.clusterEndpoint;
    this.databaseUrl = `postgres://${FUNCTIONS_USER}@${hostname}:${POSTGRES_PORT}/${DATABASE_NAME}?sslmode=verify-full`;
    this.databaseUserArn = this.formatArn({
      service: "rds-db",
      resource: "dbuser",
      resourceName: `${this.cluster.clusterResourceIdentifier}/${FUNCTIONS_USER}`,
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    });
  }

  private createBucket({ warcStorageClass, warcStorageDays, qdrantImage, ...settings }: Settings): Bucket {
    const transitionAfter = Duration.days(warcStorageDays);
    const transitions =
      warcStorageClass === "none" ? [] : [{ storageClass: new StorageClass(warcStorageClass), transitionAfter }];
    const bucket = new Bucket(this, "Bucket", {
      encryption: BucketEncryption.S3_MANAGED,
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      enforceSSL: true,
      versioned: true,
      removalPolicy: RemovalPolicy.RETAIN,
      cors: uploadsOfPages(settings),
      lifecycleRules: [
        // capture batches are read within minutes; a month leaves time to send them again by hand
        { prefix: "captures/", expiration: Duration.days(30) },
        // pictures and PDFs are fetched within the hour that their links work
        { prefix: "media/", expiration: Duration.days(1) },
        // what is cached is kept for a day at the most
        { prefix: "cache/", expiration: Duration.days(2) },
        // a document is made of a file within the hour that its link works
        { prefix: "uploads/", expiration: Duration.days(1) },
        // exports can be asked for anew
        { prefix: "exports/", expiration: Duration.days(30) },
        // what a discovery found can be asked for as long
        { prefix: "discoveries/", expiration: Duration.days(30) },
        // each holds all, so an old one is of no use
        ...(qdrantImage === undefined ? [] : [{ prefix: "qdrant/", expiration: Duration.days(14) }]),
        // WARCs and uploads are the archive: no rule ends them, and S3 moves them to cheaper storage
        ...(transitions.length === 0 ? [] : ["warcs/", "incoming/"].map((prefix) => ({ prefix, transitions }))),
        { abortIncompleteMultipartUploadAfter: Duration.days(1), noncurrentVersionExpiration: Duration.days(30) },
      ],
    });
    acknowledge(
      bucket,
      ["S1"],
      "Only our own functions reach the bucket and their logs name each object; " +
        "who needs more switches on CloudTrail data events",
    );
    return bucket;
  }

  /**
   * The queues stand in this stack, and the bucket names them in its own properties: no function of CDK's needs to be
   * allowed to change the notifications of any bucket.
   */
  private notifyOfObjects({ name }: Settings): void {
    const listening = TOPOLOGY.queues.filter(({ objects }) => objects !== undefined);
    const queues = new Map(listening.flatMap((spec) => createQueuePair(this, name, spec)));
    const bucket = this.bucket.node.defaultChild as CfnBucket;
    const queueConfigurations = listening.flatMap(({ name: queueName, objects = [] }) => {
      const queue = queues.get(queueName) as Queue;
      // the name of the bucket is not known yet, which waits for this permission
      queue.addToResourcePolicy(
        new PolicyStatement({
          principals: [new ServicePrincipal("s3.amazonaws.com")],
          actions: ["sqs:SendMessage"],
          resources: [queue.queueArn],
          conditions: { StringEquals: { "aws:SourceAccount": this.account } },
        }),
      );
      bucket.node.addDependency(queue.node.findChild("Policy"));
      return objects.map(({ prefix, suffix }) => ({
        event: "s3:ObjectCreated:*",
        queue: queue.queueArn,
        filter: {
          s3Key: {
            rules: [
              { name: "prefix", value: prefix },
              { name: "suffix", value: suffix },
            ],
          },
        },
      }));
    });
    bucket.notificationConfiguration = { queueConfigurations };
  }

  private createStateTable(): Table {
    const table = new Table(this, "State", {
      partitionKey: { name: "pk", type: AttributeType.STRING },
      billingMode: BillingMode.PAY_PER_REQUEST,
      timeToLiveAttribute: "expires_at",
      removalPolicy: RemovalPolicy.DESTROY,
    });
    acknowledge(
      table,
      ["DDB3"],
      "Politeness slots, caches and markers: minutes old at the most, and made anew when missing",
    );
    return table;
  }

  private createProviderKeys(): Secret {
    const secret = new Secret(this, "ProviderKeys", {
      description: "Strandline: one JSON object with the keys of search and model providers, e.g. SERPER_KEY",
      // a key of our own making would fit no provider: an object without keys, until somebody writes them
      generateSecretString: { secretStringTemplate: "{}", generateStringKey: "UNUSED" },
    });
    acknowledge(secret, ["SMG4"], "The providers issue these keys; whoever deploys exchanges them by hand");
    return secret;
  }

  private createCluster({ settings, network }: DataStackProps): DatabaseCluster {
    const engine = DatabaseClusterEngine.auroraPostgres({ version: AuroraPostgresEngineVersion.VER_17_7 });
    const securityGroup = new SecurityGroup(this, "Database", {
      vpc: network.vpc,
      description: "The database: private functions may connect",
      allowAllOutbound: false,
    });
    securityGroup.addIngressRule(network.functionSecurityGroup, Port.tcp(POSTGRES_PORT), "private functions");
    const cluster = new DatabaseCluster(this, "Cluster", {
      engine,
      writer: ClusterInstance.serverlessV2("Writer", { enablePerformanceInsights: false }),
      serverlessV2MinCapacity: 0,
      serverlessV2MaxCapacity: settings.databaseMaxAcu,
      serverlessV2AutoPauseDuration: Duration.minutes(10),
      vpc: network.vpc,
      vpcSubnets: { subnetType: SubnetType.PRIVATE_ISOLATED },
      securityGroups: [securityGroup],
      port: POSTGRES_PORT,
      defaultDatabaseName: DATABASE_NAME,
      credentials: Credentials.fromUsername(DATABASE_NAME),
      manageMasterUserPassword: true,
      iamAuthentication: true,
      // by which the user of the functions is made
      enableDataApi: true,
      storageEncrypted: true,
      backup: { retention: Duration.days(7) },
      deletionProtection: true,
      removalPolicy: RemovalPolicy.SNAPSHOT,
      parameterGroup: new ParameterGroup(this, "Parameters", {
        engine,
        parameters: { "rds.force_ssl": "1" },
      }),
    });
    acknowledge(
      cluster,
      ["RDS11"],
      "Only the functions' security group reaches the port; another number would hide nothing",
    );
    return cluster;
  }
}

/** The console puts large files into the bucket by links of the API: who has none can do nothing with this. */
function uploadsOfPages({ console, consoleDomain }: Pick<Settings, "console" | "consoleDomain">): CorsRule[] {
  if (!console) return [];
  return [
    {
      allowedMethods: [HttpMethods.PUT],
      // the distribution has its name once it is there, and it stands on the bucket
      allowedOrigins: [`https://${consoleDomain ?? "*.cloudfront.net"}`],
      allowedHeaders: ["x-amz-checksum-sha256"],
      maxAge: 3600,
    },
  ];
}

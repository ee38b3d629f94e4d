/**
 * The console, and the API behind the same origin: a distribution of CloudFront that gives the files of the console
 * from a bucket of their own below `/console`, and asks the API for everything else, so that each route of the topology
 * is there as it is. Where the deployment wants none it is an empty stack, since one that is left out would go on
 * running.
 */
import {
  type CfnElement,
  CfnOutput,
  CfnWaitConditionHandle,
  CustomResource,
  Duration,
  FileSystem,
  RemovalPolicy,
  Stack,
  type StackProps,
} from "aws-cdk-lib";
import { Certificate } from "aws-cdk-lib/aws-certificatemanager";
import {
  AccessLevel,
  AllowedMethods,
  type BehaviorOptions,
  CachePolicy,
  Distribution,
  type ErrorResponse,
  FunctionCode,
  FunctionEventType,
  FunctionRuntime,
  HttpVersion,
  OriginProtocolPolicy,
  OriginRequestPolicy,
  OriginSslPolicy,
  PriceClass,
  SecurityPolicyProtocol,
  ViewerProtocolPolicy,
  Function as ViewerRequestFunction,
} from "aws-cdk-lib/aws-cloudfront";
import { HttpOrigin, S3BucketOrigin } from "aws-cdk-lib/aws-cloudfront-origins";
import { PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { Architecture, Code, Function as LambdaFunction, Runtime } from "aws-cdk-lib/aws-lambda";
import { LogGroup, RetentionDays } from "aws-cdk-lib/aws-logs";
import { BlockPublicAccess, Bucket, BucketEncryption, type IBucket } from "aws-cdk-lib/aws-s3";
import type { Construct } from "constructs";
import type { OtherOrigins } from "../../console/security-headers.ts";
import { acknowledge } from "../acknowledge.ts";
import type { ConsolePublisher } from "../console-publisher.ts";
import { createConsoleHeaders } from "../constructs/console-headers.ts";
import { VIEWER_REQUEST } from "../constructs/viewer-request.ts";
import type { Settings } from "../settings.ts";
import { type ApiStack, STAGE } from "./api.ts";
import type { DataStack } from "./data.ts";

export interface ConsoleStackProps extends StackProps {
  settings: Settings;
  api: ApiStack;
  data: DataStack;
  /** Where captures are replayed. */
  replayUrl: string;
  publisher: ConsolePublisher;
}

/**
 * Between two parts of an answer. Streams say something every 15 s, and an answer that is given whole takes 29 s at the
 * most, but for crawls that are waited for: who wants those asks the API itself.
 */
const API_SILENCE_S = 60;

/**
 * What CloudFront would keep for ten seconds, and give to whoever asks next, with whichever key. The answer itself
 * stays as it was given: a route that does not exist is no page of the console.
 */
const UNCACHED_ERRORS: ErrorResponse[] = [400, 403, 404, 405, 414, 416, 500, 501, 502, 503, 504].map((httpStatus) => ({
  httpStatus,
  ttl: Duration.seconds(0),
}));

export class ConsoleStack extends Stack {
  /** Whether the deployment wants none. */
  readonly isEmpty: boolean;

  constructor(
    scope: Construct,
    id: string,
    { settings, api, data, replayUrl, publisher, ...props }: ConsoleStackProps,
  ) {
    super(scope, id, props);
    this.isEmpty = !settings.console;
    if (this.isEmpty) {
      // no stack may be empty, and this costs nothing
      new CfnWaitConditionHandle(this, "Nothing");
      return;
    }
    const bucket = this.createBucket();
    this.publish(bucket, publisher);
    const distribution = this.createDistribution(settings, {
      api: this.apiBehaviour(api),
      console: this.consoleBehaviour(bucket, { replay: replayUrl, storage: this.storageOf(data) }),
    });
    const host = settings.consoleDomain ?? distribution.distributionDomainName;
    new CfnOutput(this, "Url", { value: `https://${host}/console/`, description: "Where the console is" });
    new CfnOutput(this, "Host", {
      value: distribution.distributionDomainName,
      description: "What the name of consoleDomain is an alias of, where there is one",
    });
  }

  private createBucket(): Bucket {
    const bucket = new Bucket(this, "Files", {
      encryption: BucketEncryption.S3_MANAGED,
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      enforceSSL: true,
      // each deployment brings all of it
      removalPolicy: RemovalPolicy.DESTROY,
    });
    acknowledge(bucket, ["S1"], "It holds the files of the console, which are public, and CloudFront alone reads it");
    return bucket;
  }

  /** Puts the files there at each deployment that changes them, and takes them out before the bucket goes. */
  private publish(bucket: Bucket, { directory, keys }: ConsolePublisher): void {
    const logGroup = new LogGroup(this, "PublisherLog", {
      retention: RetentionDays.ONE_MONTH,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const role = new Role(this, "PublisherRole", { assumedBy: new ServicePrincipal("lambda.amazonaws.com") });
    logGroup.grantWrite(role);
    const publisher = new LambdaFunction(this, "Publisher", {
      description: "Brings the console's files into their bucket when it is deployed",
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      code: Code.fromAsset(directory),
      handler: "index.handler",
      timeout: Duration.minutes(2),
      memorySize: 256,
      logGroup,
      role,
    });
    const files = `${bucket.bucketArn}/console/*`;
    publisher.addToRolePolicy(new PolicyStatement({ actions: ["s3:ListBucket"], resources: [bucket.bucketArn] }));
    publisher.addToRolePolicy(
      new PolicyStatement({ actions: ["s3:PutObject", "s3:DeleteObject"], resources: [files] }),
    );
    const name = this.getLogicalId(bucket.node.defaultChild as CfnElement);
    acknowledge(
      role,
      [`IAM5[Resource::<${name}.Arn>/console/*]`],
      "The files of the console, in a bucket of their own",
    );
    new CustomResource(this, "Published", {
      resourceType: "Custom::ConsoleFiles",
      serviceToken: publisher.functionArn,
      serviceTimeout: Duration.minutes(5),
      // what differs calls it again
      properties: { Bucket: bucket.bucketName, Keys: keys, Build: FileSystem.fingerprint(directory) },
    });
  }

  /** Nothing is kept, and nothing of an answer is changed: archived pages bring a policy of their own. */
  private apiBehaviour({ api }: ApiStack): BehaviorOptions {
    return {
      origin: new HttpOrigin(`${api.restApiId}.execute-api.${this.region}.${this.urlSuffix}`, {
        originPath: `/${STAGE}`,
        protocolPolicy: OriginProtocolPolicy.HTTPS_ONLY,
        originSslProtocols: [OriginSslPolicy.TLS_V1_2],
        readTimeout: Duration.seconds(API_SILENCE_S),
        keepaliveTimeout: Duration.seconds(60),
      }),
      allowedMethods: AllowedMethods.ALLOW_ALL,
      cachePolicy: CachePolicy.CACHING_DISABLED,
      // API Gateway knows itself by its own host alone
      originRequestPolicy: OriginRequestPolicy.ALL_VIEWER_EXCEPT_HOST_HEADER,
      // a redirect would come after the key has travelled in the clear
      viewerProtocolPolicy: ViewerProtocolPolicy.HTTPS_ONLY,
      // the API does so itself
      compress: false,
    };
  }

  /** The host of links to its objects: known by the name, which the functions know it by, too. */
  private storageOf({ bucket }: DataStack): string {
    return `https://${bucket.bucketName}.s3.${this.region}.${this.urlSuffix}`;
  }

  private consoleBehaviour(bucket: Bucket, others: OtherOrigins): BehaviorOptions {
    const viewerRequest = new ViewerRequestFunction(this, "ViewerRequest", {
      comment: "Strandline: which file an address of the console is",
      code: FunctionCode.fromInline(VIEWER_REQUEST),
      runtime: FunctionRuntime.JS_2_0,
    });
    return {
      // without the right to list, S3 would answer 403 for a file that is not there
      origin: S3BucketOrigin.withOriginAccessControl(bucket as IBucket, {
        originAccessLevels: [AccessLevel.READ, AccessLevel.LIST],
      }),
      allowedMethods: AllowedMethods.ALLOW_GET_HEAD,
      cachePolicy: CachePolicy.CACHING_OPTIMIZED,
      responseHeadersPolicy: createConsoleHeaders(this, others),
      viewerProtocolPolicy: ViewerProtocolPolicy.REDIRECT_TO_HTTPS,
      functionAssociations: [{ function: viewerRequest, eventType: FunctionEventType.VIEWER_REQUEST }],
      compress: true,
    };
  }

  private createDistribution(
    { name, consoleDomain, consoleCertificate }: Settings,
    behaviours: { api: BehaviorOptions; console: BehaviorOptions },
  ): Distribution {
    const distribution = new Distribution(this, "Distribution", {
      comment: `Strandline: the console of ${name}, and its API`,
      defaultBehavior: behaviours.api,
      additionalBehaviors: { "/console": behaviours.console, "/console/*": behaviours.console },
      errorResponses: UNCACHED_ERRORS,
      httpVersion: HttpVersion.HTTP2_AND_3,
      // of North America and Europe: readers elsewhere reach it, too, and their traffic costs no more
      priceClass: PriceClass.PRICE_CLASS_100,
      minimumProtocolVersion: SecurityPolicyProtocol.TLS_V1_2_2021,
      ...(consoleDomain === undefined || consoleCertificate === undefined
        ? {}
        : {
            domainNames: [consoleDomain],
            certificate: Certificate.fromCertificateArn(this, "Certificate", consoleCertificate),
          }),
    });
    acknowledge(distribution, ["CFR1"], "Whoever has a key may be anywhere");
    acknowledge(
      distribution,
      ["CFR2"],
      "Files of the console are public, and the API has limits of its own; a WAF costs more than the idle system",
    );
    acknowledge(
      distribution,
      ["CFR3"],
      "The API has its own log of accesses; CloudFront's would hold the queries, which ours does not",
    );
    if (consoleDomain === undefined)
      acknowledge(
        distribution,
        ["CFR4"],
        "With CloudFront's own certificate its policy is AWS's choice; with consoleDomain it is TLS 1.2 or newer",
      );
    return distribution;
  }
}

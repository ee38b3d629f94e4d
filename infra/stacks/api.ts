/** The HTTPS API: one regional REST API with exactly the routes of the topology. */
import { CfnOutput, Duration, RemovalPolicy, Size, Stack, type StackProps } from "aws-cdk-lib";
import {
  AccessLogFormat,
  EndpointType,
  LambdaIntegration,
  LogGroupLogDestination,
  type MethodDeploymentOptions,
  MethodLoggingLevel,
  ResponseTransferMode,
  ResponseType,
  RestApi,
} from "aws-cdk-lib/aws-apigateway";
import { LogGroup, RetentionDays } from "aws-cdk-lib/aws-logs";
import type { Construct } from "constructs";
import { acknowledge } from "../acknowledge.ts";
import { queuesByName } from "../constructs/queue-pair.ts";
import { StrandlineFunction, type Surroundings } from "../constructs/strandline-function.ts";
import { gatewayMethods } from "../topology/spec.ts";
import { TOPOLOGY } from "../topology.ts";

export interface ApiStackProps extends StackProps {
  surroundings: Omit<Surroundings, "queues">;
}

/** What API Gateway puts before the paths. */
export const STAGE = "live";

/** What API Gateway answers by itself, in the shape of the functions' own errors. */
const GATEWAY_ANSWERS = [
  {
    type: ResponseType.MISSING_AUTHENTICATION_TOKEN,
    status: "404",
    code: "NOT_FOUND",
    error: "There is no such route",
  },
  { type: ResponseType.THROTTLED, status: "429", code: "RATE_LIMITED", error: "Too many requests: try again later" },
  {
    type: ResponseType.REQUEST_TOO_LARGE,
    status: "413",
    code: "PAYLOAD_TOO_LARGE",
    error: "The request body is over the limit: send less at once",
  },
  {
    type: ResponseType.INTEGRATION_TIMEOUT,
    status: "504",
    code: "TIMEOUT",
    error: "The answer took too long: try again, or ask for less at once",
  },
  {
    type: ResponseType.DEFAULT_5XX,
    status: "503",
    code: "SERVICE_UNAVAILABLE",
    error: "Not available at the moment: try again",
  },
];

/** Seconds, as a value of a mapping: those of the functions' own answers. */
const RETRY_AFTER = "'5'";

/** Methods with a limit of their own: what is not said of one here is not what is said of all others. */
function throttledMethods(): Record<string, MethodDeploymentOptions> {
  const methods = TOPOLOGY.functions.flatMap(gatewayMethods);
  return Object.fromEntries(
    methods.flatMap(({ method, resource, throttle }) =>
      throttle === undefined
        ? []
        : [
            [
              `${resource}/${method}`,
              {
                throttlingRateLimit: throttle.perSecond,
                throttlingBurstLimit: throttle.burst,
                loggingLevel: MethodLoggingLevel.ERROR,
                dataTraceEnabled: false,
                metricsEnabled: true,
              },
            ],
          ],
    ),
  );
}

export class ApiStack extends Stack {
  readonly functions: StrandlineFunction[];
  readonly api: RestApi;

  constructor(scope: Construct, id: string, { surroundings: around, ...props }: ApiStackProps) {
    super(scope, id, props);
    const surroundings: Surroundings = { ...around, queues: queuesByName(this, around.settings.name) };
    this.api = this.createApi(surroundings);
    const specs = TOPOLOGY.functions.filter(({ routes }) => routes !== undefined);
    this.functions = specs.map((spec) => new StrandlineFunction(this, spec, surroundings));
    for (const each of this.functions) {
      this.addRoutes(each);
      if (each.spec.grants.api) each.lambda.addEnvironment("API__URL", this.address());
    }
    new CfnOutput(this, "Url", { value: this.api.url, description: "Where the API answers" });
  }

  private createApi({ settings }: Surroundings): RestApi {
    const accessLog = new LogGroup(this, "AccessLog", {
      retention: RetentionDays.ONE_MONTH,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const api = new RestApi(this, "Api", {
      restApiName: settings.name,
      description: "Strandline: crawl, archive, search",
      endpointTypes: [EndpointType.REGIONAL],
      // of whole answers; streamed ones are compressed by their function
      minCompressionSize: Size.kibibytes(1),
      cloudWatchRole: true,
      // the account has one such role, which other APIs of its may write their logs with
      cloudWatchRoleRemovalPolicy: RemovalPolicy.RETAIN,
      deployOptions: {
        stageName: STAGE,
        throttlingRateLimit: settings.apiRequestsPerSecond,
        throttlingBurstLimit: settings.apiRequestsPerSecond * 2,
        accessLogDestination: new LogGroupLogDestination(accessLog),
        accessLogFormat: AccessLogFormat.jsonWithStandardFields({
          caller: false,
          httpMethod: true,
          ip: true,
          protocol: true,
          requestTime: true,
          resourcePath: true,
          responseLength: true,
          status: true,
          user: false,
        }),
        loggingLevel: MethodLoggingLevel.ERROR,
        // a trace would hold queries and keys
        dataTraceEnabled: false,
        metricsEnabled: true,
        methodOptions: throttledMethods(),
      },
    });
    for (const { type, status, code, error } of GATEWAY_ANSWERS) {
      api.addGatewayResponse(`answer-${code}`, {
        type,
        statusCode: status,
        ...(status === "429" || status === "503" ? { responseHeaders: { "Retry-After": RETRY_AFTER } } : {}),
        templates: {
          "application/json": JSON.stringify({ error, code, request_id: "$context.requestId" }),
        },
      });
    }
    acknowledge(api, ["APIG2"], "Each function validates its requests and answers with the path of every fault");
    acknowledge(
      api,
      ["APIG3"],
      "API keys have limits of their own and the stage has one for all; a WAF costs more than the idle system",
    );
    acknowledge(
      api,
      ["APIG4", "COG4"],
      "Every route but health asks for an API key, which the function compares with its hash",
    );
    acknowledge(
      api,
      ["IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs]"],
      "AWS's own policy for API Gateway's one role per account, which is not ours to narrow",
    );
    return api;
  }

  /** Without the stage as a resource: that comes after the functions, which are told this. */
  private address(): string {
    return `https://${this.api.restApiId}.execute-api.${this.region}.${this.urlSuffix}/${STAGE}`;
  }

  private addRoutes({ spec, lambda }: StrandlineFunction): void {
    const integration = (streaming: boolean) =>
      new LambdaIntegration(lambda, {
        proxy: true,
        allowTestInvoke: false,
        // one permission for the function, not one for each of its methods
        scopePermissionToMethod: false,
        // a streamed answer may take as long as a function, instead of 29 s
        ...(streaming
          ? { responseTransferMode: ResponseTransferMode.STREAM, timeout: Duration.seconds(spec.timeoutS) }
          : {}),
      });
    const buffered = integration(false);
    const streamed = integration(true);
    for (const { method, resource, streaming } of gatewayMethods(spec)) {
      this.api.root.resourceForPath(resource).addMethod(method, streaming ? streamed : buffered);
    }
  }
}

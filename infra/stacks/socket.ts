/** The WebSocket API: its one stage, the function behind its routes, and the one that writes to its connections. */
import { type CfnElement, CfnOutput, RemovalPolicy, Stack, type StackProps } from "aws-cdk-lib";
import { AccessLogFormat } from "aws-cdk-lib/aws-apigateway";
import { LogGroupLogDestination, WebSocketApi, WebSocketStage } from "aws-cdk-lib/aws-apigatewayv2";
import { WebSocketLambdaIntegration } from "aws-cdk-lib/aws-apigatewayv2-integrations";
import { PolicyStatement } from "aws-cdk-lib/aws-iam";
import { LogGroup, RetentionDays } from "aws-cdk-lib/aws-logs";
import type { Construct } from "constructs";
import { acknowledge } from "../acknowledge.ts";
import { queuesByName } from "../constructs/queue-pair.ts";
import { listenToQueues } from "../constructs/queue-triggers.ts";
import { StrandlineFunction, type Surroundings } from "../constructs/strandline-function.ts";
import { servesSockets } from "../topology/spec.ts";
import { TOPOLOGY } from "../topology.ts";

export interface SocketStackProps extends StackProps {
  surroundings: Omit<Surroundings, "queues">;
}

const STAGE = "live";

/** No query string and no header: clients may put there what must not be kept. */
const LOGGED = {
  requestId: "$context.requestId",
  ip: "$context.identity.sourceIp",
  requestTime: "$context.requestTime",
  eventType: "$context.eventType",
  routeKey: "$context.routeKey",
  status: "$context.status",
  connectionId: "$context.connectionId",
  error: "$context.error.message",
};

export class SocketStack extends Stack {
  readonly functions: StrandlineFunction[];

  constructor(scope: Construct, id: string, { surroundings: around, ...props }: SocketStackProps) {
    super(scope, id, props);
    const surroundings: Surroundings = { ...around, queues: queuesByName(this, around.settings.name) };
    this.functions = TOPOLOGY.functions
      .filter(servesSockets)
      .map((spec) => new StrandlineFunction(this, spec, surroundings));
    const api = this.createApi(surroundings);
    const stage = this.createStage(api, surroundings);
    for (const each of this.functions) {
      listenToQueues(each, surroundings);
      if (each.spec.grants.connections) this.allowConnections(each, api, stage);
    }
    new CfnOutput(this, "Url", { value: stage.url, description: "Where WebSockets connect, with ?job_id=…" });
  }

  private createApi({ settings }: Surroundings): WebSocketApi {
    const [behind, ...others] = this.functions.filter(({ spec }) => spec.websocket);
    if (behind === undefined || others.length > 0) throw new Error("The WebSocket API has one function behind it");
    const integration = (route: string) => new WebSocketLambdaIntegration(route, behind.lambda);
    const api = new WebSocketApi(this, "Api", {
      apiName: `${settings.name}-socket`,
      description: "Strandline: the progress of jobs",
      connectRouteOptions: { integration: integration("connect") },
      disconnectRouteOptions: { integration: integration("disconnect") },
      defaultRouteOptions: { integration: integration("default"), returnResponse: true },
    });
    acknowledge(
      api,
      ["APIG4"],
      "The function asks for an API key at $connect, which it compares with " +
        "its hash; the other routes have a connection",
    );
    return api;
  }

  private createStage(webSocketApi: WebSocketApi, { settings }: Surroundings): WebSocketStage {
    const accessLog = new LogGroup(this, "AccessLog", {
      retention: RetentionDays.ONE_MONTH,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    return new WebSocketStage(this, "Stage", {
      webSocketApi,
      stageName: STAGE,
      autoDeploy: true,
      throttle: { rateLimit: settings.apiRequestsPerSecond, burstLimit: settings.apiRequestsPerSecond * 2 },
      accessLogSettings: {
        destination: new LogGroupLogDestination(accessLog),
        format: AccessLogFormat.custom(JSON.stringify(LOGGED)),
      },
    });
  }

  /** To write to any connection of this stage, and to end it. */
  private allowConnections(writer: StrandlineFunction, api: WebSocketApi, stage: WebSocketStage): void {
    const { lambda, spec } = writer;
    lambda.addEnvironment("AWS_ENDPOINT_URL_APIGATEWAYMANAGEMENTAPI", stage.callbackUrl);
    const paths = ["POST", "DELETE"].map((method) => `${STAGE}/${method}/@connections/*`);
    const resources = paths.map((path) =>
      this.formatArn({ service: "execute-api", resource: api.apiId, resourceName: path }),
    );
    lambda.addToRolePolicy(new PolicyStatement({ actions: ["execute-api:ManageConnections"], resources }));
    const apiName = this.getLogicalId(api.node.defaultChild as CfnElement);
    const arn = `arn:<AWS::Partition>:execute-api:<AWS::Region>:<AWS::AccountId>:<${apiName}>`;
    acknowledge(
      writer,
      paths.map((path) => `IAM5[Resource::${arn}/${path}]`),
      `${spec.name} writes to whichever connection of this one stage listens; their ids are made at run time`,
    );
  }
}

/** The path of a page: queues, the functions that work on them, the schedules, and the migration at each deployment. */
import { type CfnElement, type CfnResource, Duration, RemovalPolicy, Stack, type StackProps } from "aws-cdk-lib";
import { Rule } from "aws-cdk-lib/aws-events";
import { SqsQueue } from "aws-cdk-lib/aws-events-targets";
import { Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { Architecture, Code, LayerVersion, Runtime } from "aws-cdk-lib/aws-lambda";
import { LogGroup, RetentionDays } from "aws-cdk-lib/aws-logs";
import {
  Schedule,
  ScheduleExpression,
  ScheduleGroup,
  ScheduleTargetInput,
  TimeWindow,
} from "aws-cdk-lib/aws-scheduler";
import { LambdaInvoke } from "aws-cdk-lib/aws-scheduler-targets";
import type { IQueue, Queue } from "aws-cdk-lib/aws-sqs";
import { Trigger } from "aws-cdk-lib/triggers";
import type { Construct } from "constructs";
import { CHROMIUM_LAYER } from "../../layers/chromium/chromium-layer.ts";
import { acknowledge } from "../acknowledge.ts";
import { DatabaseUser } from "../constructs/database-user.ts";
import { FetchService } from "../constructs/fetch-service.ts";
import { createQueuePair, queuesByName } from "../constructs/queue-pair.ts";
import { listenToQueues } from "../constructs/queue-triggers.ts";
import { createSourceSchedules } from "../constructs/source-schedules.ts";
import { StrandlineFunction, type Surroundings } from "../constructs/strandline-function.ts";
import type { Settings } from "../settings.ts";
import { renderedByCrawl4Ai } from "../topology/rendering.ts";
import { type FunctionSpec, servesSockets } from "../topology/spec.ts";
import { TOPOLOGY } from "../topology.ts";
import type { Engines } from "./engines.ts";

export interface PipelineStackProps extends StackProps {
  /** Folder of which the image of fetch as a service is built. */
  fetcher: string;
  surroundings: Omit<Surroundings, "queues" | "chromium">;
  /** Folder of the function that makes the database's user. */
  databaseUser: string;
}

interface ScheduleSpec {
  name: string;
  everyMinutes: number;
  /** What the function is told; where absent, that it is time. */
  input?: object;
}

/** Schedules by which a function empties queues: one for all that are emptied as often. */
function drainsOf({ queues = [] }: FunctionSpec): ScheduleSpec[] {
  const drained = Map.groupBy(queues, ({ drainedEveryMinutes }) => drainedEveryMinutes);
  return [...drained].flatMap(([everyMinutes, triggers]) =>
    everyMinutes === undefined
      ? []
      : [{ name: `drain-${everyMinutes}`, everyMinutes, input: { drain: triggers.map(({ queue }) => queue) } }],
  );
}

/** Of a trigger: the resource by which it runs. */
const runOf = (trigger: Trigger) => trigger.node.findChild("Default").node;

/** Where CDK puts the function that calls others at a deployment. */
const TRIGGER_CALLER = "AWSCDK.TriggerCustomResourceProviderCustomResourceProvider";

export class PipelineStack extends Stack {
  readonly functions: StrandlineFunction[] = [];

  constructor(scope: Construct, id: string, { surroundings, databaseUser, fetcher, ...props }: PipelineStackProps) {
    super(scope, id, props);
    const ours = TOPOLOGY.queues.filter(({ objects }) => objects === undefined);
    const { name } = surroundings.settings;
    const pairs = ours.flatMap((queue) => createQueuePair(this, name, queue));
    // the bucket's stand in its own stack
    const queues: ReadonlyMap<string, IQueue> = new Map([...queuesByName(this, name), ...pairs]);
    const { crawl4aiImage, crawl4aiConcurrency } = surroundings.settings;
    const topology = crawl4aiImage === undefined ? TOPOLOGY : renderedByCrawl4Ai(TOPOLOGY, crawl4aiConcurrency);
    const specs = topology.functions.filter(
      (spec) => spec.routes === undefined && !spec.ownOrigin && !servesSockets(spec),
    );
    const chromium = new LayerVersion(this, "Chromium", {
      description: CHROMIUM_LAYER.about,
      code: Code.fromAsset(surroundings.layers.chromium),
      compatibleArchitectures: [Architecture.custom(CHROMIUM_LAYER.architecture)],
      compatibleRuntimes: [Runtime.NODEJS_24_X],
    });
    const sourceSchedules = createSourceSchedules(this, name, queues);
    for (const spec of specs)
      this.functions.push(new StrandlineFunction(this, spec, { ...surroundings, queues, chromium, sourceSchedules }));
    const scheduleGroup = new ScheduleGroup(this, "Schedules", { removalPolicy: RemovalPolicy.DESTROY });
    for (const each of this.functions) {
      if (surroundings.settings.fetchers === "fargate" && each.spec.name === "fetch")
        this.serveFetch(each, surroundings.settings, fetcher);
      else listenToQueues(each, { ...surroundings, queues });
      this.schedule(each, scheduleGroup);
    }
    if (surroundings.engines) this.tellOfTasks(surroundings.engines, pairs);
    this.migrateFirst(new DatabaseUser(this, "DatabaseUser", { code: databaseUser, data: surroundings.data }));
  }

  /** The service has the function's rights; the function stays, and nothing wakes it. */
  private serveFetch({ spec, role, environment }: StrandlineFunction, settings: Settings, folder: string): void {
    const named = [...(spec.queues ?? []).map(({ queue }) => queue), ...(spec.grants.receive ?? [])];
    const queues = named.map((queue) => `${settings.name}-${queue}`);
    new FetchService(this, "Fetchers", { settings, folder, queues, role, environment });
  }

  /** ECS tells when a task of an engine begins to run, and when it has stopped. */
  private tellOfTasks({ clusterArn }: Engines, queues: readonly [string, Queue][]): void {
    const queue = new Map(queues).get("engine-events");
    if (queue === undefined) throw new Error("The topology names no queue engine-events");
    new Rule(this, "EngineTasks", {
      description: "Strandline: what becomes of the tasks of engines",
      eventPattern: {
        source: ["aws.ecs"],
        detailType: ["ECS Task State Change"],
        detail: { clusterArn: [clusterArn], lastStatus: ["RUNNING", "STOPPED"] },
      },
      targets: [new SqsQueue(queue)],
    });
  }

  private schedule({ spec, lambda }: StrandlineFunction, scheduleGroup: ScheduleGroup): void {
    const schedules: ScheduleSpec[] = [...(spec.schedules ?? []), ...drainsOf(spec)];
    for (const { name, everyMinutes, input } of schedules) {
      const role = new Role(lambda, `schedule-${name}-role`, {
        assumedBy: new ServicePrincipal("scheduler.amazonaws.com"),
      });
      const logicalId = this.getLogicalId(lambda.node.defaultChild as CfnElement);
      acknowledge(role, [`IAM5[Resource::<${logicalId}.Arn>:*]`], "The versions of this one function");
      new Schedule(lambda, `schedule-${name}`, {
        description: spec.about,
        schedule: ScheduleExpression.rate(Duration.minutes(everyMinutes)),
        scheduleGroup,
        timeWindow: TimeWindow.off(),
        // the next one comes soon and does the same work
        target: new LambdaInvoke(lambda, {
          role,
          retryAttempts: 0,
          maxEventAge: Duration.minutes(1),
          ...(input === undefined ? {} : { input: ScheduleTargetInput.fromObject(input) }),
        }),
      });
      lambda.configureAsyncInvoke({ retryAttempts: 0, maxEventAge: Duration.minutes(everyMinutes) });
    }
  }

  /**
   * Functions that run at each deployment run before all others change: nothing works on a schema older than itself.
   */
  private migrateFirst({ trigger: user }: DatabaseUser): void {
    const others = this.functions.filter(({ spec }) => !spec.atDeploy);
    for (const { spec, lambda } of this.functions.filter((each) => each.spec.atDeploy)) {
      const trigger = new Trigger(this, `run-${spec.name}`, {
        handler: lambda,
        timeout: Duration.seconds(spec.timeoutS),
        executeOnHandlerChange: true,
      });
      const log = this.keepLogOf(trigger);
      for (const each of [user, trigger]) runOf(each).addDependency(log);
      runOf(trigger).addDependency(user);
      trigger.executeBefore(...others);
    }
  }

  /** The log of the function that CDK brings along to call ours: Lambda would make one that stays for ever. */
  private keepLogOf(trigger: Trigger): LogGroup {
    const caller = this.node.findChild(TRIGGER_CALLER).node.findChild("Handler") as CfnResource;
    return new LogGroup(trigger, "Log", {
      logGroupName: `/aws/lambda/${caller.ref}`,
      retention: RetentionDays.ONE_MONTH,
      removalPolicy: RemovalPolicy.DESTROY,
    });
  }
}

/** The origin on which captures are replayed: a function URL, which has a host name of its own. */
import { CfnOutput, Fn, Stack, type StackProps } from "aws-cdk-lib";
import { FunctionUrlAuthType, InvokeMode } from "aws-cdk-lib/aws-lambda";
import type { Construct } from "constructs";
import { queuesByName } from "../constructs/queue-pair.ts";
import { StrandlineFunction, type Surroundings } from "../constructs/strandline-function.ts";
import { TOPOLOGY } from "../topology.ts";

export interface ReplayStackProps extends StackProps {
  surroundings: Omit<Surroundings, "queues">;
}

export class ReplayStack extends Stack {
  readonly functions: StrandlineFunction[];
  /** Without a slash at its end. */
  readonly url: string;

  constructor(scope: Construct, id: string, { surroundings: around, ...props }: ReplayStackProps) {
    super(scope, id, props);
    const surroundings: Surroundings = { ...around, queues: queuesByName(this, around.settings.name) };
    this.functions = TOPOLOGY.functions
      .filter(({ ownOrigin }) => ownOrigin)
      .map((spec) => new StrandlineFunction(this, spec, surroundings));
    const [behind, ...others] = this.functions;
    if (behind === undefined || others.length > 0) throw new Error("Replay has one function behind it");
    // the function itself asks for a key where the archive is not public
    const { url } = behind.lambda.addFunctionUrl({
      authType: FunctionUrlAuthType.NONE,
      invokeMode: InvokeMode.RESPONSE_STREAM,
    });
    this.url = `https://${Fn.select(2, Fn.split("/", url))}`;
    new CfnOutput(this, "Url", { value: this.url, description: "Where captures are replayed: /TIME/URL" });
  }
}

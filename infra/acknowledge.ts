/** Findings of cdk-nag that are meant to be. Each says why; what is not acknowledged fails the synthesis. */
import { Validations } from "aws-cdk-lib";
import type { IConstruct } from "constructs";

/**
 * @param ids e.g. `S1`, or for one finding of a rule `IAM5[Resource::*]`
 * @param reason why the finding is right as it is, for this construct and all below it
 */
export function acknowledge(construct: IConstruct, ids: readonly string[], reason: string): void {
  for (const id of ids) Validations.of(construct).acknowledge({ id: `AwsSolutions-${id}`, reason });
}

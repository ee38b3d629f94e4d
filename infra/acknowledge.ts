/** Findings of cdk-nag that are meant to be. Each says why; what is not acknowledged fails the synthesis. */
import { Stack, Validations } from "aws-cdk-lib";
import type { Bucket } from "aws-cdk-lib/aws-s3";
import type { Construct, IConstruct } from "constructs";

/**
 * @param ids e.g. `S1`, or for one finding of a rule `IAM5[Resource::*]`
 * @param reason why the finding is right as it is, for this construct and all below it
 */
export function acknowledge(construct: IConstruct, ids: readonly string[], reason: string): void {
  for (const id of ids) Validations.of(construct).acknowledge({ id: `AwsSolutions-${id}`, reason });
}

/**
 * Objects of the bucket below known prefixes, as cdk-nag names them in a stack that imports the bucket.
 * @param keys e.g. `models/*`
 */
export function acknowledgeObjects(
  construct: Construct,
  bucket: Bucket,
  keys: readonly string[],
  reason: string,
): void {
  // the name under which the other stack exports the ARN is how the finding names it
  const exported = Stack.of(bucket).exportValue(bucket.bucketArn);
  const { "Fn::ImportValue": arn } = Stack.of(construct).resolve(exported);
  acknowledge(
    construct,
    keys.map((each) => `IAM5[Resource::${arn}/${each}]`),
    reason,
  );
}

/** As cdk-nag writes an ARN with references. */
export function nagName(stack: Stack, arn: string): string {
  const resolved = stack.resolve(arn) as string | { "Fn::Join": [string, (string | { Ref: string })[]] };
  if (typeof resolved === "string") return resolved;
  return resolved["Fn::Join"][1].map((each) => (typeof each === "string" ? each : `<${each.Ref}>`)).join("");
}

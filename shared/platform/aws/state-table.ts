/** What the users of the state table share. */

/** @returns false where the condition of a conditional write did not hold; other errors are thrown on */
export function isConditionFailure(error: unknown): boolean {
  return error instanceof Error && error.name === "ConditionalCheckFailedException";
}

/** DynamoDB's expiry attribute. Expired items may stay for days: compare times in conditions too. */
export function expiresAt(now: number, seconds: number): number {
  return Math.ceil(now / 1000) + seconds;
}

/**
 * What AWS charges for requests in us-east-1, in dollars, without any free tier. What runs by the hour (Aurora,
 * endpoints, NAT) and what is kept by the month (S3, DynamoDB, logs) is not counted here.
 */

const MILLION = 1_000_000;

export const PRICES = {
  /** https://aws.amazon.com/sqs/pricing/: standard queues; each 64 KB of a payload is one request. */
  sqsRequest: 0.4 / MILLION,
  sqsRequestBytes: 64 * 1024,
  /** https://aws.amazon.com/s3/pricing/: PUT, COPY, POST, LIST; GET and all others; DELETE is free. */
  s3Write: 0.005 / 1000,
  s3Read: 0.0004 / 1000,
  /**
   * https://aws.amazon.com/dynamodb/pricing/on-demand/: write units of 1 KB, strongly consistent read units of 4 KB.
   */
  dynamoWrite: 0.625 / MILLION,
  dynamoRead: 0.125 / MILLION,
  /** https://aws.amazon.com/lambda/pricing/: requests, and GB-seconds on arm64. */
  lambdaRequest: 0.2 / MILLION,
  lambdaGbSecond: 0.0000133334,
  /** https://aws.amazon.com/api-gateway/pricing/: REST API calls; WebSocket messages of up to 32 KB. */
  restRequest: 3.5 / MILLION,
  websocketMessage: 1 / MILLION,
  /** https://aws.amazon.com/eventbridge/pricing/: Scheduler invocations. */
  schedulerInvocation: 1 / MILLION,
} as const;

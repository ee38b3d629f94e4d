/**
 * What AWS charges in us-east-1, in dollars, without any free tier: list prices, each with its page and the date by
 * which it was last looked at. The usage of the local runtime counts requests and the time of functions; what runs by
 * the hour and what is kept by the month is for `npm run bench -- economy`.
 */

const MILLION = 1_000_000;

export const PRICES = {
  /** https://aws.amazon.com/sqs/pricing/, 2026-11-28: standard queues; each 64 KB of a payload is one request. */
  sqsRequest: 0.4 / MILLION,
  sqsRequestBytes: 64 * 1024,
  /** https://aws.amazon.com/s3/pricing/, 2026-11-28: PUT, COPY, POST, LIST; GET and all others; DELETE is free. */
  s3Write: 0.005 / 1000,
  s3Read: 0.0004 / 1000,
  /** The same page, 2026-11-28: the first 50 TB of Standard, and of Intelligent-Tiering where it is read. */
  s3GbMonth: 0.023,
  /**
   * https://aws.amazon.com/dynamodb/pricing/on-demand/, 2026-11-28: write units of 1 KB, strongly consistent read
   * units of 4 KB.
   */
  dynamoWrite: 0.625 / MILLION,
  dynamoRead: 0.125 / MILLION,
  /** https://aws.amazon.com/lambda/pricing/, 2026-11-28: requests, and GB-seconds on arm64. */
  lambdaRequest: 0.2 / MILLION,
  lambdaGbSecond: 0.0000133334,
  /** https://aws.amazon.com/api-gateway/pricing/, 2026-11-28: REST API calls; WebSocket messages of up to 32 KB. */
  restRequest: 3.5 / MILLION,
  websocketMessage: 1 / MILLION,
  /** https://aws.amazon.com/eventbridge/pricing/, 2026-11-28: Scheduler invocations. */
  schedulerInvocation: 1 / MILLION,
  /**
   * https://aws.amazon.com/rds/aurora/pricing/, 2026-11-30: Serverless v2 of the Standard configuration, by the
   * capacity unit and hour; storage; requests to storage, of which a write is up to 4 KB of the log.
   */
  auroraAcuHour: 0.12,
  auroraGbMonth: 0.1,
  auroraIo: 0.2 / MILLION,
  auroraIoBytes: 4096,
  /**
   * https://aws.amazon.com/fargate/pricing/, 2026-11-30: Linux on arm64, on demand, by the hour. Spot is some 70 %
   * less, and moves.
   */
  fargateCpuHour: 0.03238,
  fargateGbHour: 0.00356,
  /** https://aws.amazon.com/vpc/pricing/, 2026-11-30: a public IPv4 address in use. */
  publicAddressHour: 0.005,
  /** https://aws.amazon.com/privatelink/pricing/, 2026-11-30: an interface endpoint in one zone. */
  interfaceEndpointHour: 0.01,
  /** https://aws.amazon.com/cloudwatch/pricing/, 2026-11-30: an alarm of one metric; a dashboard. */
  alarmMonth: 0.1,
  dashboardMonth: 3,
  /** https://aws.amazon.com/secrets-manager/pricing/, 2026-11-30. */
  secretMonth: 0.4,
} as const;

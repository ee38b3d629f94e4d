/** What browsers are told about the console, as the local runtime tells it. */
import { Duration } from "aws-cdk-lib";
import { HeadersReferrerPolicy, ResponseHeadersPolicy } from "aws-cdk-lib/aws-cloudfront";
import type { Construct } from "constructs";
import { contentPolicy, type OtherOrigins, SECURITY_HEADERS } from "../../console/security-headers.ts";

/** Those that CloudFront has words of its own for, and takes in no other way. */
const IN_ITS_WORDS = ["x-content-type-options", "referrer-policy"];
const REFERRER_POLICIES = { "no-referrer": HeadersReferrerPolicy.NO_REFERRER };

export function createConsoleHeaders(scope: Construct, others: OtherOrigins): ResponseHeadersPolicy {
  return new ResponseHeadersPolicy(scope, "Headers", {
    comment: "Strandline: what browsers are told about the console",
    securityHeadersBehavior: {
      contentSecurityPolicy: { contentSecurityPolicy: contentPolicy(others), override: true },
      contentTypeOptions: { override: true },
      referrerPolicy: { referrerPolicy: REFERRER_POLICIES[SECURITY_HEADERS["referrer-policy"]], override: true },
      strictTransportSecurity: { accessControlMaxAge: Duration.days(365), override: true },
    },
    customHeadersBehavior: {
      customHeaders: Object.entries(SECURITY_HEADERS)
        .filter(([header]) => !IN_ITS_WORDS.includes(header))
        .map(([header, value]) => ({ header, value, override: true })),
    },
  });
}

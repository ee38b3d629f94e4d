/** The stack of the console: what CloudFront is told, and what it makes of addresses. */
import { createContext, runInContext } from "node:vm";
import { App } from "aws-cdk-lib";
import { AwsSolutionsChecks } from "cdk-nag";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { contentPolicy, SECURITY_HEADERS } from "../../console/security-headers.ts";
import { readSettings } from "../../infra/settings.ts";
import { TOPOLOGY } from "../../infra/topology.ts";
import { type Resource, type Synthesis, synthesise } from "./synthesis.ts";

let synthesis: Synthesis;
beforeAll(async () => {
  synthesis = await synthesise();
}, 480_000);
afterAll(() => synthesis.remove());

const STACK = "strandline-console";

function only<T>(type: string): T {
  const [found, ...others] = synthesis.resources(type).filter(({ stack }) => stack === STACK);
  expect({ type, others }).toEqual({ type, others: [] });
  return (found?.Properties ?? expect.fail(`no ${type}`)) as T;
}

interface Behaviour {
  PathPattern?: string;
  TargetOriginId: string;
  AllowedMethods: string[];
  ViewerProtocolPolicy: string;
  CachePolicyId: string;
  OriginRequestPolicyId?: string;
  ResponseHeadersPolicyId?: unknown;
  FunctionAssociations?: { EventType: string }[];
  Compress: boolean;
}
interface Origin {
  Id: string;
  OriginPath?: string;
  DomainName: unknown;
  CustomOriginConfig?: { OriginProtocolPolicy: string; OriginSSLProtocols: string[]; OriginReadTimeout: number };
  OriginAccessControlId?: unknown;
}
interface DistributionConfig {
  DefaultCacheBehavior: Behaviour;
  CacheBehaviors: Behaviour[];
  Origins: Origin[];
  CustomErrorResponses: Record<string, unknown>[];
  PriceClass: string;
  Aliases?: string[];
  ViewerCertificate?: Record<string, unknown>;
}
const config = () =>
  only<{ DistributionConfig: DistributionConfig }>("AWS::CloudFront::Distribution").DistributionConfig;

/** As CloudFront does: the first pattern that fits, or else the default. */
function behaviourOf(path: string): Behaviour {
  const fits = ({ PathPattern = "" }: Behaviour) =>
    new RegExp(`^${PathPattern.replaceAll(/[.+^${}()|[\]\\]/g, "\\$&").replaceAll("*", ".*")}$`).test(path);
  return config().CacheBehaviors.find(fits) ?? config().DefaultCacheBehavior;
}
const originOf = (path: string): Origin =>
  config().Origins.find(({ Id }) => Id === behaviourOf(path).TargetOriginId) ?? expect.fail(`${path} has no origin`);

/** Managed policies have the same ids in every account. */
const MANAGED = {
  disabled: "4135ea2d-6df8-44a3-9df3-4b5a84be39ad",
  optimized: "658327ea-f89d-4fab-a63d-7e88639e58f6",
  allButHost: "b689b0a8-53d0-40ab-baf2-68738e2966ac",
};

describe("the API", () => {
  test("answers every route of the topology on the console's origin, with all that was asked but the host", () => {
    const paths = TOPOLOGY.functions.flatMap(({ routes = [] }) => routes.map(({ method, path }) => ({ method, path })));
    expect(paths.length).toBeGreaterThan(150);
    for (const { method, path } of paths) {
      const asked = path.replaceAll(/\{[^}]*\}/g, "https://example.org/a%20b?");
      expect(originOf(asked), path).toMatchObject({ OriginPath: "/live" });
      expect(JSON.stringify(originOf(asked).DomainName), path).toContain("execute-api");
      expect(behaviourOf(asked).AllowedMethods, path).toContain(method);
    }
    expect(config().DefaultCacheBehavior).toMatchObject({
      CachePolicyId: MANAGED.disabled,
      OriginRequestPolicyId: MANAGED.allButHost,
    });
  });

  test("is asked through TLS 1.2 alone, on both sides, and may be silent for as long as it may think", () => {
    expect(originOf("/api/v1/jobs").CustomOriginConfig).toMatchObject({
      OriginProtocolPolicy: "https-only",
      OriginSSLProtocols: ["TLSv1.2"],
      OriginReadTimeout: 60,
    });
    // nothing with a key in it is redirected
    expect(behaviourOf("/api/v1/jobs").ViewerProtocolPolicy).toBe("https-only");
  });

  test("says itself what browsers may do with its answers, and what an error is", () => {
    for (const path of ["/api/snapshots/raw/1", "/docs", "/", "/consoles", "/api/console/"])
      expect([path, behaviourOf(path).ResponseHeadersPolicyId, behaviourOf(path).FunctionAssociations]).toEqual([
        path,
        undefined,
        undefined,
      ]);
    for (const each of config().CustomErrorResponses)
      expect(each).toEqual({ ErrorCode: expect.any(Number), ErrorCachingMinTTL: 0 });
    const codes = config().CustomErrorResponses.map(({ ErrorCode }) => ErrorCode);
    expect(codes).toEqual(expect.arrayContaining([400, 403, 404, 500, 502, 503, 504]));
  });
});

describe("the console", () => {
  test("comes from a private bucket that CloudFront alone reads", () => {
    for (const path of ["/console", "/console/", "/console/assets/main-AB12CD34.js"]) {
      expect(originOf(path)).toMatchObject({ OriginAccessControlId: expect.anything() });
      expect(behaviourOf(path)).toMatchObject({
        AllowedMethods: ["GET", "HEAD"],
        CachePolicyId: MANAGED.optimized,
        ViewerProtocolPolicy: "redirect-to-https",
        Compress: true,
      });
    }
    expect(only("AWS::S3::Bucket")).toMatchObject({
      PublicAccessBlockConfiguration: {
        BlockPublicAcls: true,
        BlockPublicPolicy: true,
        IgnorePublicAcls: true,
        RestrictPublicBuckets: true,
      },
    });
    const { PolicyDocument } = only<{ PolicyDocument: { Statement: Record<string, unknown>[] } }>(
      "AWS::S3::BucketPolicy",
    );
    const allowed = PolicyDocument.Statement.filter(({ Effect }) => Effect === "Allow");
    expect(allowed.length).toBeGreaterThan(0);
    for (const each of allowed) {
      expect(each["Principal"]).toEqual({ Service: "cloudfront.amazonaws.com" });
      expect(JSON.stringify(each["Condition"])).toMatch(/AWS:SourceArn.*distribution/);
    }
    expect(PolicyDocument.Statement).toContainEqual(
      expect.objectContaining({ Effect: "Deny", Condition: { Bool: { "aws:SecureTransport": "false" } } }),
    );
  });

  test("has the headers of the local runtime, and is reached through TLS ever after", () => {
    const { ResponseHeadersPolicyConfig: policy } = only<{
      ResponseHeadersPolicyConfig: {
        SecurityHeadersConfig: Record<string, Record<string, unknown>>;
        CustomHeadersConfig: { Items: { Header: string; Value: string; Override: boolean }[] };
      };
    }>("AWS::CloudFront::ResponseHeadersPolicy");
    const { ContentSecurityPolicy, ContentTypeOptions, ReferrerPolicy, StrictTransportSecurity, ...others } =
      policy.SecurityHeadersConfig;
    expect(others).toEqual({});
    const told = {
      "x-content-type-options": ContentTypeOptions?.["Override"] === true ? "nosniff" : undefined,
      "referrer-policy": ReferrerPolicy?.["ReferrerPolicy"],
      ...Object.fromEntries(policy.CustomHeadersConfig.Items.map(({ Header, Value }) => [Header, Value])),
    };
    expect(told).toEqual(SECURITY_HEADERS);
    expect(StrictTransportSecurity).toMatchObject({ AccessControlMaxAgeSec: 31_536_000 });
    const text = JSON.stringify(ContentSecurityPolicy?.["ContentSecurityPolicy"]);
    // as it is written, but for the two hosts that the deployment knows
    const parts = contentPolicy({ replay: "OTHER", storage: "OTHER" }).split("OTHER");
    expect(parts).toHaveLength(3);
    for (const part of parts) expect(text).toContain(part);
    expect(text).toMatch(/connect-src 'self' https:\/\/",{"Fn::ImportValue":"strandline-data:ExportsOutputRefBucket/);
    expect(text).toMatch(/frame-src https:\/\/".*strandline-replay:ExportsOutput/);
    expect(text).not.toContain("unsafe");
  });

  test("is near most readers, by HTTP/3, and has CloudFront's own name by default", () => {
    expect(config()).toMatchObject({ PriceClass: "PriceClass_100", HttpVersion: "http2and3", IPV6Enabled: true });
    expect(config().Aliases).toBeUndefined();
  });
});

describe("the function at the edge", () => {
  type Answer = { uri?: string; statusCode?: number; headers?: { location: { value: string } } };
  const code = () => {
    const { FunctionCode, FunctionConfig } = only<{ FunctionCode: string; FunctionConfig: { Runtime: string } }>(
      "AWS::CloudFront::Function",
    );
    expect(FunctionConfig.Runtime).toBe("cloudfront-js-2.0");
    return FunctionCode;
  };
  /** Without anything that Node has and the edge has not. */
  const answer = (uri: string): Answer => {
    const event = JSON.stringify({ request: { method: "GET", uri, querystring: {}, headers: {}, cookies: {} } });
    return JSON.parse(runInContext(`${code()}; JSON.stringify(handler(${event}))`, createContext({})) as string);
  };

  test.each([
    ["/console/", "/console/index.html"],
    ["/console/index.html", "/console/index.html"],
    ["/console/assets/main-AB12CD34.js", "/console/assets/main-AB12CD34.js"],
    ["/console/assets/main-AB12CD34.css", "/console/assets/main-AB12CD34.css"],
  ])("%s is %s", (uri, file) => {
    expect(answer(uri)).toMatchObject({ uri: file });
  });

  test.each([
    ["/console", "/console/"],
    ["/console/jobs", "/console/#/jobs"],
    ["/console/jobs/0199c2d4-7f00-7000-8000-000000000001", "/console/#/jobs/0199c2d4-7f00-7000-8000-000000000001"],
    ["/console/settings/", "/console/#/settings/"],
  ])("%s is the view %s", (uri, location) => {
    expect(answer(uri)).toMatchObject({ statusCode: 302, headers: { location: { value: location } } });
  });

  test.each([
    "/console/files.json",
    "/console/assets/",
    "/console/assets/../index.html",
    "/console/assets/main.js.map",
    "/console//example.org/",
    "/console/https://example.org/",
    "/console/%2f%2fexample.org",
    "/consoles",
    "/api/v1/jobs",
    "/",
  ])("%s is none of the console's", (uri) => {
    expect(answer(uri)).toEqual({ statusCode: 404, statusDescription: "Not Found" });
  });

  test("is small, and newer than its engine in nothing", () => {
    expect(Buffer.byteLength(code())).toBeLessThan(10_240);
    // what cloudfront-js-2.0 does not know
    expect(code()).not.toMatch(/\?\.|\?\?|\bimport\b|\bclass\b|\.\.\./);
  });
});

describe("the files", () => {
  test("are published by a function that may do that and no more, and are called for again when they differ", () => {
    const policies = synthesis.resources("AWS::IAM::Policy").filter(({ stack }) => stack === STACK);
    const statements = policies.flatMap(
      ({ Properties }) =>
        (Properties["PolicyDocument"] as { Statement: { Action: string | string[]; Resource: unknown }[] }).Statement,
    );
    expect(statements.map(({ Action }) => Action)).toEqual([
      ["logs:CreateLogStream", "logs:PutLogEvents"],
      "s3:ListBucket",
      ["s3:PutObject", "s3:DeleteObject"],
    ]);
    expect(JSON.stringify(statements[2]?.Resource)).toContain("/console/*");
    expect(only("Custom::ConsoleFiles")).toMatchObject({
      Keys: ["console/index.html"],
      Build: expect.stringMatching(/^[0-9a-f]{64}$/),
      ServiceTimeout: "300",
    });
  });

  test("go with the stack, and so does everything else of it", () => {
    const kept = synthesis
      .resources()
      .filter(({ stack, DeletionPolicy }) => stack === STACK && DeletionPolicy === "Retain");
    expect(kept).toEqual([]);
    expect(only<unknown>("AWS::Logs::LogGroup")).toMatchObject({ RetentionInDays: 30 });
  });
});

describe("a deployment", () => {
  test("that wants no console leaves an empty stack in its place, before the API lets go of it", async () => {
    const without = await synthesise({ console: "false" });
    try {
      const found = without.resources().filter(({ stack }) => stack === STACK);
      expect(found.map(({ Type }) => Type)).toEqual(["AWS::CloudFormation::WaitConditionHandle"]);
      expect(without.resources("AWS::S3::Bucket")[0]?.Properties["CorsConfiguration"]).toBeUndefined();
      const stacks = without.app.synth().stacks;
      for (const name of ["strandline-api", "strandline-replay"])
        expect(stacks.find(({ stackName }) => stackName === name)?.dependencies.map(({ id }) => id)).toContain(STACK);
    } finally {
      await without.remove();
    }
  }, 480_000);

  test("lets pages of the console put files into the bucket by links, and no others", () => {
    const corsOf = (each: Synthesis) => each.resources("AWS::S3::Bucket")[0]?.Properties["CorsConfiguration"];
    expect(corsOf(synthesis)).toEqual({
      CorsRules: [
        {
          AllowedMethods: ["PUT"],
          AllowedOrigins: ["https://*.cloudfront.net"],
          AllowedHeaders: ["x-amz-checksum-sha256"],
          MaxAge: 3600,
        },
      ],
    });
  });

  test("with a name of its own takes nothing older than TLS 1.2", async () => {
    const consoleCertificate = `arn:aws:acm:us-east-1:000000000000:certificate/${"a".repeat(8)}`;
    const named = await synthesise({ consoleDomain: "console.example.org", consoleCertificate });
    try {
      const [distribution] = named.resources("AWS::CloudFront::Distribution") as [Resource];
      expect(distribution.Properties["DistributionConfig"]).toMatchObject({
        Aliases: ["console.example.org"],
        ViewerCertificate: { AcmCertificateArn: consoleCertificate, MinimumProtocolVersion: "TLSv1.2_2021" },
      });
      const [bucket] = named.resources("AWS::S3::Bucket");
      expect(JSON.stringify(bucket?.Properties["CorsConfiguration"])).toContain('["https://console.example.org"]');
      expect(new AwsSolutionsChecks(named.app).validateScope(named.app).violations).toEqual([]);
    } finally {
      await named.remove();
    }
  }, 480_000);

  test("names both the domain and its certificate, which is one of us-east-1, or neither", () => {
    const read = (context: Record<string, unknown>) => () =>
      readSettings(new App({ context, analyticsReporting: false }));
    expect(read({ consoleDomain: "console.example.org" })).toThrow("consoleDomain: means nothing without");
    const elsewhere = "arn:aws:acm:eu-west-1:000000000000:certificate/aaaaaaaa";
    expect(read({ consoleDomain: "console.example.org", consoleCertificate: elsewhere })).toThrow("us-east-1");
  });
});

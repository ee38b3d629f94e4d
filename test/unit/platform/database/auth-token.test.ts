import { expect, test } from "vitest";
import { createAuthToken } from "../../../../shared/platform/database/auth-token.ts";

const HOST = "db.cluster-abc.eu-central-1.rds.amazonaws.com";
const URL_OF_FUNCTIONS = `postgres://strandline_functions@${HOST}:5432/strandline?sslmode=verify-full`;
const ENV = {
  AWS_REGION: "eu-central-1",
  AWS_ACCESS_KEY_ID: "AKIDEXAMPLE",
  AWS_SECRET_ACCESS_KEY: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
  AWS_SESSION_TOKEN: "session/token+==",
};

test("is the token that AWS's own tools make of the same credentials at the same time", async () => {
  const token = await createAuthToken(URL_OF_FUNCTIONS, ENV, new Date("2026-11-30T12:00:00Z"));
  const { host, pathname, searchParams } = new URL(`https://${token}`);
  expect([host, pathname]).toEqual([`${HOST}:5432`, "/"]);
  // of `generate_db_auth_token`, botocore 1.43.106
  expect(Object.fromEntries(searchParams)).toEqual({
    Action: "connect",
    DBUser: "strandline_functions",
    "X-Amz-Algorithm": "AWS4-HMAC-SHA256",
    "X-Amz-Credential": "AKIDEXAMPLE/20261130/eu-central-1/rds-db/aws4_request",
    "X-Amz-Date": "20261130T120000Z",
    "X-Amz-Expires": "900",
    "X-Amz-SignedHeaders": "host",
    "X-Amz-Security-Token": "session/token+==",
    "X-Amz-Signature": "6f4612757bb9a28ad6bb2fe1c76dbcd4d0d02da5c508cc2b5c6b4afe758b2030",
  });
  expect(token).toContain("X-Amz-Security-Token=session%2Ftoken%2B%3D%3D&");
});

test("names PostgreSQL's own port where the URL names none", async () => {
  const token = await createAuthToken(URL_OF_FUNCTIONS.replace(":5432", ""), ENV);
  expect(token.startsWith(`${HOST}:5432/?Action=connect&`)).toBe(true);
});

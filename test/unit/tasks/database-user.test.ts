import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import type { Clock } from "../../../shared/platform/clock.ts";
import { makeDatabaseUser } from "../../../tasks/database-user/handler.ts";

/** Whose pauses pass at once. */
function hastyClock(): Clock {
  let at = 0;
  return {
    now: () => at,
    sleep: async (ms) => {
      at += ms;
    },
  };
}

type Answer = [status: number, error: string, message: string];

/** RDS's Data API: gives these answers in their order, and the last one from then on. */
async function dataApi(...answers: Answer[]) {
  const asked: { path: string; authorization: string; body: Record<string, string> }[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = JSON.parse(Buffer.concat(chunks).toString("utf8"));
      asked.push({ path: request.url ?? "", authorization: request.headers.authorization ?? "", body });
      const [status, error, message] = answers[Math.min(asked.length, answers.length) - 1] ?? [200, "", ""];
      response.writeHead(status, { "x-amzn-errortype": error }).end(JSON.stringify({ message }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const env = {
    AWS_REGION: "eu-central-1",
    AWS_ACCESS_KEY_ID: "AKIDEXAMPLE",
    AWS_SECRET_ACCESS_KEY: "an-example",
    AWS_ENDPOINT_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    CLUSTER_ARN: "arn:aws:rds:eu-central-1:000000000000:cluster:c",
    SECRET_ARN: "arn:aws:secretsmanager:eu-central-1:000000000000:secret:s",
    DATABASE_NAME: "strandline",
  };
  return { asked, make: () => makeDatabaseUser({ env, clock: hastyClock() }) };
}

test("has RDS run one statement as the master user, whose password it never sees", async () => {
  const { asked, make } = await dataApi([200, "", ""]);
  await make();
  expect(asked).toEqual([
    {
      path: "/Execute",
      authorization: expect.stringMatching(/^AWS4-HMAC-SHA256 .*\/eu-central-1\/rds-data\/aws4_request/),
      body: {
        resourceArn: "arn:aws:rds:eu-central-1:000000000000:cluster:c",
        secretArn: "arn:aws:secretsmanager:eu-central-1:000000000000:secret:s",
        database: "strandline",
        sql: expect.stringContaining("grant rds_iam to strandline_functions"),
      },
    },
  ]);
  // of several the Data API takes none, and a colon would name a parameter
  expect(asked[0]?.body["sql"]).toMatch(/^do \$\$[^:]*\$\$\n$/);
});

test("waits for a database that resumes", async () => {
  const { asked, make } = await dataApi(
    [400, "DatabaseResumingException:http://internal", "The database resumes"],
    [504, "DatabaseUnavailableException", "No answer"],
    [200, "", ""],
  );
  await make();
  expect(asked).toHaveLength(3);
});

test("gives up after four minutes, and says what RDS says", async () => {
  const { make } = await dataApi([400, "DatabaseResumingException", "The database resumes"]);
  await expect(make()).rejects.toThrow(/400 DatabaseResumingException .*The database resumes/);
});

test("takes for done what the master user may not do any more, since it was done", async () => {
  const { make } = await dataApi([
    400,
    "BadRequestException",
    'FATAL: PAM authentication failed for user "strandline"',
  ]);
  await expect(make()).resolves.toBeUndefined();
});

test("does not go on where RDS refuses", async () => {
  const { asked, make } = await dataApi([403, "AccessDeniedException", "not authorized"]);
  await expect(make()).rejects.toThrow(/AccessDeniedException/);
  expect(asked).toHaveLength(1);
});

import { expect, test } from "vitest";
import { announcedEnvironment, restoredEnvironment } from "../../../local/environment.ts";

const EMBEDDED = { accessKeyId: "LOCAL1", secretAccessKey: "of this start" };
const SERVICES = {
  AWS_ENDPOINT_URL_S3: "http://127.0.0.1:1",
  AWS_ACCESS_KEY_ID: EMBEDDED.accessKeyId,
  AWS_SECRET_ACCESS_KEY: EMBEDDED.secretAccessKey,
  DATABASE__POSTGRES_URL: "postgres://127.0.0.1:2/strandline",
};
const SHELL = { PATH: "/bin", OPENAI_API_KEY: "sk-private", GITHUB_TOKEN: "private" };

test("what is written to the state folder holds settings, and nothing else of the shell that started it", () => {
  expect(announcedEnvironment({ ...SHELL, ...SERVICES }, EMBEDDED)).toEqual(SERVICES);
});

test("credentials of a real account stay out of it", () => {
  const real = { AWS_ACCESS_KEY_ID: "AKIA", AWS_SECRET_ACCESS_KEY: "private", AWS_SESSION_TOKEN: "private" };
  expect(announcedEnvironment({ ...SERVICES, ...real }, EMBEDDED)).toEqual({
    AWS_ENDPOINT_URL_S3: SERVICES.AWS_ENDPOINT_URL_S3,
    DATABASE__POSTGRES_URL: SERVICES.DATABASE__POSTGRES_URL,
  });
});

test("whoever asks later brings the keys, while the running services tell where they are", () => {
  const user = {
    ...SHELL,
    AWS_ACCESS_KEY_ID: "AKIA",
    DATABASE__POSTGRES_URL: "postgres://elsewhere/",
    NODE_OPTIONS: "-r x",
  };
  expect(restoredEnvironment(announcedEnvironment(SERVICES, EMBEDDED), user)).toEqual({ ...SHELL, ...SERVICES });
});

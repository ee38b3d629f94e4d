interface EnvironmentCredentials {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string;
}

/** The credentials that Lambda puts into the environment of a function. */
export function environmentCredentials(env: Readonly<Record<string, string | undefined>>): EnvironmentCredentials {
  const { AWS_ACCESS_KEY_ID: accessKeyId = "", AWS_SECRET_ACCESS_KEY: secretAccessKey = "" } = env;
  const { AWS_SESSION_TOKEN: sessionToken } = env;
  return { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) };
}

/** An emulated AWS on loopback, from PyPI, mended where it differs from AWS in what this project needs. */
import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { delimiter, join } from "node:path";
import { CREDENTIALS, ENDPOINT, KIT, PORTS, PROJECT, untilOpen, type Workshop } from "./machine.ts";

// with the driver by which its Data API reaches the database
const PACKAGES = ["ministack==1.5.33", "boto3==1.43.106", "psycopg2-binary==2.9.11"];
const PATCH = join(KIT, "emulator.patch");

/** @param loops whether the rule about recursive loops is applied */
export async function startEmulator(workshop: Workshop, { loops }: { loops: boolean }): Promise<void> {
  const ministack = await install(workshop);
  const run = workshop.path("run");
  rmSync(run, { recursive: true, force: true });
  for (const folder of ["tmp", "home", "state", "var"]) mkdirSync(join(run, folder), { recursive: true });
  const namespaces = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"];
  if (process.getuid?.() !== 0) namespaces.push("--user", "--map-root-user");
  const certificate = workshop.path("tls", "ca.pem");
  workshop.start(
    "emulator",
    [...namespaces, join(KIT, "namespace.sh"), certificate, join(run, "var"), ministack],
    // an environment of its own: the functions inherit it
    {
      env: {
        PATH: [join(PROJECT, "node_modules", ".bin"), process.env["PATH"]].join(delimiter),
        LANG: "C.UTF-8",
        HOME: join(run, "home"),
        TMPDIR: join(run, "tmp"),
        STATE_DIR: join(run, "state"),
        BIND_HOST: "127.0.0.1",
        SFTP_HOST: "127.0.0.1",
        // it would listen on all interfaces
        IOT_MTLS_ENABLED: "0",
        GATEWAY_PORT: String(PORTS.emulator),
        MINISTACK_REGION: CREDENTIALS.AWS_REGION,
        MINISTACK_LOOP_DETECTION: loops ? "1" : "0",
        MINISTACK_RDS_ENDPOINT_HOST: "localhost",
        LAMBDA_EXECUTOR: "local",
        AWS_EXECUTION_ENV: "AWS_Lambda_nodejs24.x",
      },
    },
  );
  await untilOpen(PORTS.emulator, "The emulator");
}

async function install(workshop: Workshop): Promise<string> {
  const venv = workshop.path("venv");
  if (!existsSync(join(venv, "complete"))) {
    rmSync(venv, { recursive: true, force: true });
    await workshop.run("venv", ["python3", "-m", "venv", venv]);
    await workshop.run("pip", [join(venv, "bin", "pip"), "install", "--quiet", ...PACKAGES]);
    await workshop.run("patch", ["patch", "-p1", "--fuzz=0", "--forward", "-d", packageOf(venv), "-i", PATCH]);
    mkdirSync(join(venv, "complete"));
  }
  return join(venv, "bin", "ministack");
}

function packageOf(venv: string): string {
  const lib = join(venv, "lib");
  const [python = ""] = readdirSync(lib).filter((name) => name.startsWith("python3"));
  return join(lib, python, "site-packages", "ministack");
}

/** What a person would do with the AWS CLI: a command of `aws.py`, and what it printed. */
export async function aws(workshop: Workshop, ...command: string[]): Promise<string> {
  const python = workshop.path("venv", "bin", "python");
  const env = { ...process.env, ...CREDENTIALS, AWS_ENDPOINT_URL: ENDPOINT };
  return (await workshop.run(`aws-${command[0]}`, [python, join(KIT, "aws.py"), ...command], { env })).trim();
}

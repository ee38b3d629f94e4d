/** What is left of a runtime, whether it ended or was killed. */
export async function isAlive(pid: number | undefined): Promise<boolean> {
  if (pid === undefined) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

export async function invokeStore(url: string | undefined, statement: string): Promise<unknown> {
  const { default: postgres } = await import("postgres");
  const sql = postgres(url ?? "", { max: 1, onnotice: () => {} });
  try {
    return await sql.unsafe(statement);
  } finally {
    await sql.end();
  }
}

/** A run in the middle of which everything is killed. */
import postgres from "postgres";
import { expect, it, onTestFinished } from "vitest";
import { startInstance } from "../services/instance.ts";
import { startHarvest } from "./harvest-setup.ts";

it.each(["the model", "a provider"])(
  "kill -9 while %s is asked leaves nothing half stored, and nobody is asked once more after the restart",
  async (whom) => {
    const harvest = await startHarvest();
    onTestFinished(() => harvest.stop().catch(() => undefined));
    const { instance, llm, doubles, env, run, asked } = harvest;
    await harvest.configure({ search: { deadline_ms: 20_000, provider_timeout_ms: 20_000 } });
    await run("known");
    await harvest.reset();
    await harvest.configure({ search: { deadline_ms: 20_000, provider_timeout_ms: 20_000 } });
    if (whom === "the model") llm.answer = () => ({ delayMs: 60_000 });
    else doubles.google.answer = () => ({ delayMs: 60_000 });
    const cut = run(whom === "the model" ? "never asked" : "known").then(
      ({ status }) => status,
      () => "cut",
    );
    await expect.poll(() => (whom === "the model" ? llm : doubles.google).asked.length).toBe(1);
    await instance.kill();
    expect(await cut).toBe("cut");
    const before = [llm.asked.length, asked()];

    const again = await startInstance({ home: instance.home, env });
    onTestFinished(() => again.stop());
    const sql = postgres(again.postgresUrl, { max: 1, onnotice: () => undefined });
    onTestFinished(() => sql.end());
    const [stored] = await sql`
      select (select count(*)::int from search_runs) as runs, (select count(*)::int from queries) as queries,
        (select count(distinct run_id)::int from search_results_raw) as raw`;
    expect(stored).toEqual({ runs: 1, queries: 1, raw: 1 });
    expect([llm.asked.length, asked()]).toEqual(before);
    await harvest.reset();
    const made = await again.call<{ providers_used: string[] }>("POST", "/search-runs", { query: "known" });
    expect(made.providers_used).toEqual(["serper", "google", "brave"]);
    // what was cut is not among it
    expect([llm.asked.length, asked()]).toEqual([0, 3]);
  },
);

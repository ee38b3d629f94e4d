/** A job's results as files: lines of JSON, a table, a web archive. */

import { ApiFault, call, request, withQuery } from "../../api/client.ts";
import type { JobPageList, PackageDetails } from "../../api/types.ts";
import { useAction } from "../../api/use-api.ts";
import { Fault } from "../../parts/page.tsx";
import { webUrl } from "../../parts/safe-url.ts";
import { csvLine, saveFile } from "../../parts/save.ts";

const COLUMNS = ["url", "depth", "status_code", "title", "fetch_error", "parse_error", "crawled_at"] as const;
const POLL_MS = 1000;

export function Downloads({ id }: { id: string }) {
  const path = `/api/v1/jobs/${encodeURIComponent(id)}`;
  const ndjson = useAction(async () => {
    const stream = await request(`${path}/stream`, { accept: "application/x-ndjson" });
    saveFile(`${id}.ndjson`, await stream.blob());
  });
  const csv = useAction(async () => saveFile(`${id}.csv`, await tableOf(path)));
  const wacz = useAction(async () => await saveArchive(id));
  return (
    <>
      <button type="button" onClick={() => void ndjson.run()} disabled={ndjson.isRunning}>
        NDJSON
      </button>
      <button type="button" onClick={() => void csv.run()} disabled={csv.isRunning}>
        CSV
      </button>
      <button type="button" onClick={() => void wacz.run()} disabled={wacz.isRunning}>
        {wacz.isRunning ? "Packing WACZ…" : "WACZ"}
      </button>
      <Fault fault={ndjson.fault ?? csv.fault ?? wacz.fault} />
    </>
  );
}

async function tableOf(path: string): Promise<Blob> {
  const lines = [csvLine(COLUMNS)];
  const include = COLUMNS.join(",");
  for (let cursor = 0, isMore = true; isMore; ) {
    const query = withQuery(`${path}/results`, { cursor, limit: 1000, include });
    const answer = await call<JobPageList>(query);
    lines.push(...answer.pages.map((page) => csvLine(COLUMNS.map((column) => page[column]))));
    cursor = answer.cursor;
    isMore = answer.pages.length > 0 && cursor < answer.total_pages;
  }
  return new Blob(lines, { type: "text/csv" });
}

/** The file has an address of its own, which the browser opens: it may be larger than the console's memory. */
async function saveArchive(jobId: string): Promise<void> {
  let made = await call<PackageDetails>("/api/v1/exports", { body: { job_id: jobId } });
  while (made.status !== "completed" && made.status !== "failed") {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    made = await call<PackageDetails>(`/api/v1/exports/${encodeURIComponent(made.id)}`);
  }
  if (made.error !== null) throw new ApiFault(200, { error: made.error, code: "EXPORT_FAILED" });
  const url = webUrl(made.download?.url);
  if (url !== undefined) open(url, "_blank", "noopener,noreferrer");
}

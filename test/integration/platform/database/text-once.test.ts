import { cp, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { connectDatabase } from "../../../../shared/platform/database/database.ts";
import { migrate } from "../../../../shared/platform/database/migrations.ts";
import { sha256, uuidv7 } from "../../../../shared/platform/ids.ts";
import { testDatabase } from "../../../services/index.ts";

const MIGRATIONS = join(import.meta.dirname, "../../../../shared/platform/database/migrations");

test("sections that are rows of their own become ranges of their document's text", async () => {
  await using database = await testDatabase();
  await database.sql`create schema before`;
  const sql = connectDatabase({ url: `${database.url}?search_path=before`, poolSize: 1 });
  const directory = await mkdtemp(join(tmpdir(), "migrations-"));
  try {
    for (const name of (await readdir(MIGRATIONS)).filter((each) => each < "0007")) {
      await cp(join(MIGRATIONS, name), join(directory, name));
    }
    await migrate(sql, directory);
    // the first section's text stands again in the last one
    const text = "Sea\n\u{1F30A} waves\nSea\n\u{1F30A} waves again";
    const ranges = [
      { heading: "Sea", level: 1, start: 0, end: 12, parent: null },
      { heading: null, level: 2, start: 13, end: 13, parent: 0 },
      { heading: "Sea", level: 2, start: 13, end: text.length, parent: 0 },
    ];
    const [documentId, ids] = [uuidv7(), ranges.map(() => uuidv7())];
    await sql`
      insert into documents (id, generation_id, url, url_hash, domain, content, markdown, content_hash, language, crawled_at)
      values (${documentId}, ${uuidv7()}, 'https://a.example/', ${sha256("")}, 'a.example', ${text}, '', ${sha256("")}, 'en',
        now())`;
    for (const [position, { heading, level, start, end, parent }] of ranges.entries()) {
      await sql`
        insert into sections (id, document_id, parent_section_id, heading, level, content, position)
        values (${ids[position] ?? ""}, ${documentId}, ${parent === null ? null : (ids[parent] ?? "")}, ${heading}, ${level},
          ${text.slice(start, end)}, ${position})`;
    }
    await sql`
      insert into chunks (id, document_id, section_id, chunk_index, content, content_hash, start_char, end_char, token_count,
        content_type, fts)
      values (${uuidv7()}, ${documentId}, ${ids[2] ?? ""}, 0, 'Sea', ${sha256("")}, 13, 16, 1, 'prose', ''),
        (${uuidv7()}, ${documentId}, null, 1, 'waves', ${sha256("")}, 7, 12, 1, 'prose', '')`;
    await migrate(sql);
    expect(await sql`select sections from documents`).toEqual([{ sections: ranges }]);
    expect(await sql`select section from chunks order by chunk_index`).toEqual([{ section: 2 }, { section: null }]);
  } finally {
    await sql.end({ timeout: 1 });
    await rm(directory, { recursive: true });
  }
});

-- Exports of what a query of the index finds, beside those of jobs.
alter table exports
  alter column job_id drop not null,
  -- {url, matchType, from, to, filter}
  add column selection jsonb,
  add check ((job_id is null) <> (selection is null));

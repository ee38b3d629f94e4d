-- What a running job knows of a host's pages whose texts differ in single words: see varying-text.ts. Gone when the job has ended.
create table crawl_texts (
  job_id uuid not null references jobs on delete cascade,
  host text not null,
  known jsonb not null,
  primary key (job_id, host)
);

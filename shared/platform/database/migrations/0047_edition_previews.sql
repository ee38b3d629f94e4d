-- Pictures of the entry pages of editions, in each language: ordered once a job is indexed.
create table edition_previews (
  archive_job_id bigint not null references archive_jobs on delete cascade,
  language text not null,
  -- that the picture stands for: shown no longer than this is
  capture_id bigint not null references captures on delete cascade,
  status text not null default 'due' check (status in ('due', 'ordered', 'taken', 'failed')),
  tries smallint not null default 0,
  -- ordered no sooner
  not_before timestamptz not null default now(),
  -- of the order that is open, and until when somebody works on it
  call_id uuid,
  deadline timestamptz,
  -- why there is none, in words
  error text,
  object_key text,
  content_type text,
  bytes int,
  -- hex, of the picture
  sha256 text,
  taken_at timestamptz,
  primary key (archive_job_id, language)
);
create index edition_previews_open on edition_previews (not_before) where status in ('due', 'ordered');
create index edition_previews_capture on edition_previews (capture_id);

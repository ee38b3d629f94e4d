-- What visitors tell of the archive.
create table reports (
  id bigint primary key generated always as identity,
  category text not null check (category in
    ('broken_snapshot', 'incorrect_metadata', 'missing_snapshot', 'takedown', 'general_feedback')),
  description text not null,
  -- of whatever was captured then, there or not
  snapshot_id bigint,
  original_url text,
  page_url text,
  reporter_email text,
  status text not null default 'new' check (status in ('new', 'triaged', 'resolved', 'dismissed')),
  internal_notes text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index reports_status on reports (status, id);

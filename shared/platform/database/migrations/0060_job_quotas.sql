-- Quotas of API keys: jobs that each may begin in a day, and how many it has begun.

-- null: as many as it likes
alter table api_keys add column jobs_per_day int check (jobs_per_day > 0);

create table key_usage (
  api_key_id uuid not null references api_keys on delete cascade,
  -- in UTC
  day date not null,
  jobs int not null default 0,
  primary key (api_key_id, day)
);

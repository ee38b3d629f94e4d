-- The source harvester: questions as they were rewritten, each run, what every provider returned, and the merged list.

create table queries (
  id int generated always as identity primary key,
  original_query text not null,
  -- SHA-256 of it: a question may be longer than an index entry
  original_hash bytea not null check (length(original_hash) = 32),
  -- SHA-256 of the prompt, hex, and the model: another of them rewrites anew
  prompt_hash text not null,
  model text not null,
  rewritten_template text not null,
  -- the provider-neutral query, with its placeholders
  query jsonb not null,
  created_at timestamptz not null default now(),
  unique (original_hash, prompt_hash, model)
);

create table search_runs (
  id int generated always as identity primary key,
  query text not null,
  rewritten_template text not null,
  run_timestamp timestamptz not null default now(),
  -- options, cascade, model, prompt hash, the queries as they were asked, what each provider did
  config jsonb not null,
  providers_used text[] not null,
  api_key_id uuid references api_keys on delete set null
);
create index search_runs_time on search_runs (run_timestamp desc, id desc);
create index search_runs_query on search_runs using hash (query);

create table search_results_raw (
  id int generated always as identity primary key,
  run_id int not null references search_runs on delete cascade,
  provider text not null,
  url text not null,
  rank int,
  meta jsonb,
  inserted_at timestamptz not null default now()
);
create index search_results_raw_run on search_results_raw (run_id, provider);

create table search_results_processed (
  id int generated always as identity primary key,
  run_id int not null references search_runs on delete cascade,
  url text not null,
  providers text[] not null,
  confidence int not null check (confidence = cardinality(providers)),
  dedupe_hash text not null,
  inserted_at timestamptz not null default now()
);
create unique index search_results_processed_run on search_results_processed (run_id, dedupe_hash);

-- What a run found is a snapshot: whoever relies on it must find it as it was. It goes with its run, and as a whole.
create function refuse_change() returns trigger language plpgsql as $$
begin
  -- a cascade comes from within another trigger
  if tg_op = 'DELETE' and pg_trigger_depth() > 1 then
    return old;
  end if;
  raise exception 'rows of % are snapshots and do not change', tg_table_name using errcode = 'restrict_violation';
end $$;
create trigger search_runs_snapshot
  before update of query, rewritten_template, run_timestamp, config, providers_used on search_runs
  for each row execute function refuse_change();
create trigger search_results_raw_snapshot before update or delete on search_results_raw
  for each row execute function refuse_change();
create trigger search_results_processed_snapshot before update or delete on search_results_processed
  for each row execute function refuse_change();

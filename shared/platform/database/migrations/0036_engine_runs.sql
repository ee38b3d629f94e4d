-- Runs of engines that are no crawler of ours: tasks that archive jobs wait for.

create table engine_runs (
  id bigint generated always as identity primary key,
  archive_job_id bigint not null references archive_jobs,
  -- of its job, from 1 on
  number smallint not null,
  mode text not null check (mode in ('fresh', 'resume', 'consolidate', 'overwrite')),
  -- what was done to help the one before; null: somebody, or the job itself, asked for it
  intervention text check (intervention in ('fewer_workers', 'rotated', 'resumed', 'backed_off')),
  workers smallint not null,
  -- prefix of what it is told and what it reports
  prefix text not null,
  status text not null check (status in ('waiting', 'starting', 'running', 'stopping', 'ended')),
  not_before timestamptz not null default now(),
  -- by whoever runs tasks
  task_id text,
  started_at timestamptz,
  running_at timestamptz,
  progress_at timestamptz,
  crawled int not null default 0,
  report jsonb,
  -- why it was made to end
  stop_reason text,
  -- of the task as a whole
  task_stopped_at timestamptz,
  task_stopped_reason text,
  task_exit_code int,
  exit_code int,
  verdict text check (verdict in ('succeeded', 'limited', 'interrupted', 'failed', 'refused')),
  -- a later run has thrown its captures away
  discarded boolean not null default false,
  ended_at timestamptz,
  created_at timestamptz not null default now(),
  unique (archive_job_id, number)
);
-- a job has one that has not ended, at the most
create unique index engine_runs_open on engine_runs (archive_job_id) where status <> 'ended';

-- Webhooks, and what is delivered to them.

create table webhooks (
  id uuid primary key,
  -- null: of every job; a hook of one job goes with it
  job_id uuid references jobs (id) on delete cascade,
  url text not null,
  -- both hold secrets: neither is shown or logged
  headers jsonb not null default '{}',
  -- [{"secret": text, "until": ISO 8601 or null}], the newest first; empty: deliveries are not signed
  secrets jsonb not null default '[]',
  events text[] not null,
  is_active boolean not null default true,
  -- why it is not active, where its receiver is the reason
  stopped_reason text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index webhooks_job on webhooks (job_id) where job_id is not null;

create table webhook_deliveries (
  seq bigint primary key generated always as identity,
  -- the same in every attempt, so that receivers know what they have had
  id uuid not null unique,
  webhook_id uuid not null references webhooks (id) on delete cascade,
  job_id uuid,
  event text not null,
  -- what it tells of: told once to each hook
  event_key text not null,
  -- the bytes that are sent and signed
  body text not null,
  status text not null default 'pending' check (status in ('pending', 'delivered', 'failed')),
  attempts int not null default 0,
  max_attempts int not null,
  -- of a pending one: when it is taken again
  next_attempt_at timestamptz not null default now(),
  -- [{"at", "attempt", "status", "error", "duration_ms"}], the oldest first
  tries jsonb not null default '[]',
  response_status int,
  response_body text,
  error text,
  created_at timestamptz not null default now(),
  delivered_at timestamptz,
  unique (webhook_id, event_key)
);
create index webhook_deliveries_due on webhook_deliveries (next_attempt_at) where status = 'pending';
create index webhook_deliveries_hook on webhook_deliveries (webhook_id, seq);
create index webhook_deliveries_settled on webhook_deliveries (created_at) where status <> 'pending';

-- What a caller's Idempotency-Key stands for: one request, the ids of what it makes, and its answer once it has one.
create table idempotency_keys (
  api_key_id uuid not null references api_keys on delete cascade,
  key text not null check (length(key) between 1 and 255),
  -- of method, path, query and body
  request_hash bytea not null check (length(request_hash) = 32),
  -- what the ids of all that the request makes are derived from
  id uuid not null,
  -- whose turn it is, until when
  token uuid not null,
  locked_until timestamptz not null,
  -- null until the request went well
  status int,
  headers jsonb,
  body text,
  expires_at timestamptz not null,
  primary key (api_key_id, key)
);
create index idempotency_keys_expired on idempotency_keys (expires_at);

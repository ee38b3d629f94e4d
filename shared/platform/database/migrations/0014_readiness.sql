-- One row, which the check of readiness writes.
create table readiness (
  id smallint primary key default 1 check (id = 1),
  written_at timestamptz not null
);

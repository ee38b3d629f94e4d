-- Hosts that a job has to wait for, by host: {"code", "message", "until"}, with the time in ISO 8601. A wait that has
-- passed says nothing any more.
alter table jobs add column waits jsonb not null default '{}';

create function waits_of(job jobs) returns json language sql stable as $$
  select coalesce(json_agg(json_build_object('host', w.key, 'code', w.value->>'code', 'message', w.value->>'message',
    'until', w.value->>'until') order by w.key), '[]')
  from jsonb_each(job.waits) w
  where job.status in ('pending', 'running') and not job.cancel_requested
    and (w.value->>'until')::timestamptz > statement_timestamp()
$$;

-- Generations of crawls that were visible: the last ones of a site stay when they are replaced, so that people can go back.
create table generations (
  -- documents.generation_id
  id uuid primary key,
  job_id uuid not null references jobs on delete cascade,
  collection_id uuid references collections on delete cascade,
  -- those of its documents, with port; of a crawl of whole hosts, these
  hosts text[] not null,
  -- whether it holds all pages of its hosts
  is_whole boolean not null,
  first_activated_at timestamptz not null default now(),
  activated_at timestamptz not null default now(),
  -- when it was decided that its replaced documents go: it cannot be activated any more
  cleaned_at timestamptz
);
create index generations_hosts on generations using gin (hosts);
create index generations_kept on generations (activated_at) where cleaned_at is null;

insert into generations (id, job_id, collection_id, hosts, is_whole, first_activated_at, activated_at)
select j.generation_id, j.id, j.collection_id, d.hosts,
  j.kind = 'site' and coalesce(j.settings->>'replaces', 'site') = 'site' and j.settings->'scope'->>'mode' = 'host'
    and coalesce(jsonb_array_length(j.settings->'scope'->'include'), 0) = 0
    and coalesce(jsonb_array_length(j.settings->'scope'->'exclude'), 0) = 0,
  j.completed_at, j.completed_at
from jobs j join (
  select generation_id, array_agg(distinct domain) as hosts from documents where generation_active group by 1) d
  on d.generation_id = j.generation_id
where j.kind in ('pages', 'site') and j.status = 'completed';

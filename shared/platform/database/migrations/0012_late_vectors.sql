-- Vectors that follow: a job may complete before each of its chunks has its vector, and `unembedded_chunks` then counts
-- those that still come.

-- When a chunk of the job was last done with; the job waits no longer than a while after it.
alter table jobs add column embedding_progress_at timestamptz;
create index jobs_late_vectors on jobs (updated_at) where status = 'completed' and unembedded_chunks > 0;

-- The models whose vectors are stored: one answers searches; those that it replaced leave with their vectors.
create table embedding_models (
  model text primary key,
  dimension int not null,
  state text not null check (state in ('serving', 'leaving')),
  changed_at timestamptz not null default now()
);
create unique index embedding_models_serving on embedding_models (state) where state = 'serving';

-- That of an installation which has vectors already. The length of those that no cache holds is that of the default model, or of
-- the one that a server had by default.
insert into embedding_models (model, dimension, state)
select most.model, coalesce(
    (select octet_length(vector) / 4 from embedding_cache cached where cached.model = most.model limit 1),
    case when most.model like 'strandline-static-%' then 256 else 1024 end), 'serving'
from (
  select model from embeddings where state = 'done' and model is not null group by model order by count(*) desc limit 1) most;

-- The chunks of all documents in one size, beside those in another: one set answers searches, another is made, or kept.
create table chunk_sets (
  -- chunks.chunk_set
  id smallint primary key,
  -- tokens; null: each document by the settings that it was crawled or uploaded with
  chunk_size int check (chunk_size between 24 and 8192),
  -- serving: it answers; coming: documents are cut; leaving: it is kept, so that one can go back; dropped: its rows go
  state text not null check (state in ('serving', 'coming', 'leaving', 'dropped')),
  paused boolean not null default false,
  -- of a coming one: documents up to this id are cut; null: none are
  cut_through uuid,
  changed_at timestamptz not null default now()
);
create unique index chunk_sets_serving on chunk_sets (state) where state = 'serving';
create unique index chunk_sets_coming on chunk_sets (state) where state = 'coming';
create unique index chunk_sets_size on chunk_sets (coalesce(chunk_size, 0)) where state <> 'dropped';
insert into chunk_sets (id, chunk_size, state) values (0, null, 'serving');

-- With a constant default the rows are not written anew.
alter table chunks add column chunk_set smallint not null default 0;
alter table chunks drop constraint chunks_document_id_chunk_index_key;
create unique index chunks_place on chunks (document_id, chunk_set, chunk_index);

-- Those that searches may see: readers of one snapshot read one set.
create view chunks_serving as
  select * from chunks where chunk_set = (select id from chunk_sets where state = 'serving');

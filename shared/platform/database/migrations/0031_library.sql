-- What people keep beside what is crawled. A document that was deleted stays for 30 days, so that it can be restored.
create index documents_deleted on documents (deleted_at) where deleted_at is not null;
create index documents_collection on documents (collection_id, id) where generation_active and collection_id is not null;

-- URLs whose documents were deleted: no crawl brings them back.
create table removed_urls (
  url_hash bytea not null,
  -- zeros: outside of all collections
  collection_id uuid not null default '00000000-0000-0000-0000-000000000000',
  removed_at timestamptz not null default now(),
  primary key (url_hash, collection_id)
);

alter table collections add column updated_at timestamptz not null default now();

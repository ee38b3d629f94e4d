-- Keys that reach the documents of these collections alone; null: of all. No foreign key: a collection that is deleted leaves its id
-- here, so that the key finds nothing instead of all.
alter table api_keys
  add column collection_ids uuid[] check (cardinality(collection_ids) between 1 and 100),
  add constraint api_keys_limited_not_admin check (collection_ids is null or not ('admin' = any(scopes)));

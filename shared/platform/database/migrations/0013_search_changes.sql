-- What searches can see has changed: a row for each transaction that changed it, so that an answer can be kept for as long as no
-- row has come. Nobody waits for anybody, as there would be waiting for one row that counts; old rows may go whenever.
create table search_changes (id bigint primary key generated always as identity, at timestamptz not null default now());

create function note_search_change() returns trigger language plpgsql as $$
begin
  insert into search_changes default values;
  return null;
end $$;

create trigger documents_changed after update or delete on documents
  for each statement execute function note_search_change();
create trigger documents_shown after insert on documents
  for each row when (new.generation_active) execute function note_search_change();

-- Pages that are being crawled get their tags unseen.
create function note_tag_change() returns trigger language plpgsql as $$
begin
  if exists (select from changed join documents d on d.id = changed.document_id where d.generation_active) then
    insert into search_changes default values;
  end if;
  return null;
end $$;
create trigger document_tags_added after insert on document_tags
  referencing new table as changed for each statement execute function note_tag_change();
create trigger document_tags_removed after delete on document_tags
  referencing old table as changed for each statement execute function note_tag_change();
create trigger documents_truncated after truncate on documents
  for each statement execute function note_search_change();

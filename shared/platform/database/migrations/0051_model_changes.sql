-- A change of the embedding model has a row of its own while it is under way, and can be paused.
alter table embedding_models drop constraint embedding_models_state_check;
alter table embedding_models add constraint embedding_models_state_check check (state in ('serving', 'coming', 'leaving'));
alter table embedding_models add column paused boolean not null default false;
create unique index embedding_models_coming on embedding_models (state) where state = 'coming';

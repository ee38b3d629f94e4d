-- What whoever fills a collection leaves open: see CollectionDefaults.
alter table collections add column defaults jsonb not null default '{}';
-- Nobody could tell the language of these documents: it is the one that their collection assumes.
alter table documents add column is_language_assumed boolean not null default false;
-- Stretches of the text that are code, tables or lists, as [kind, start, end]: where the text is cut anew, they stay whole.
-- null: written before; the chunks tell roughly.
alter table documents add column blocks jsonb;

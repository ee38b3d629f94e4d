-- Why a captured page does not become searchable: type, noindex, no_text or language. Null where it does, and where it failed.
alter table captures add column not_indexed text;

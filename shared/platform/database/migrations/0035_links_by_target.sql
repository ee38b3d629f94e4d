-- Links are asked for by what they lead to, so one index does.
alter table page_links drop constraint page_links_pkey;
drop index page_links_to;
alter table page_links add primary key (to_hash, from_hash);

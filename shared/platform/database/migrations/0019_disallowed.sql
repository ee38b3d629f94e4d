-- Whether a page was asked for although robots.txt forbids it.
alter table captures add column disallowed boolean not null default false;

-- How often readers asked for what, by day in UTC: numbers, and nothing of who asked or for what.

create table archive_usage (
  day date not null,
  -- e.g. searchRequests
  what text not null,
  count bigint not null,
  primary key (day, what)
);

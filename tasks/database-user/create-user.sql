do $$
begin
  if not exists (select from pg_roles where rolname = 'strandline_functions') then
    create role strandline_functions login;
  end if;
  -- the master user gives away only what it may become
  execute format('grant strandline_functions to %I with set true, inherit true', current_user);
  -- the database too, and with it the right to make tables and extensions in it
  execute format('reassign owned by %I to strandline_functions', current_user);
  -- an extension that PostgreSQL does not trust to others is for the master user to make
  if exists (select from pg_available_extensions where name = 'vector') then
    create extension if not exists vector;
  end if;
  -- from here on no member of it comes in by a password, and the master user is one
  grant rds_iam to strandline_functions;
end
$$

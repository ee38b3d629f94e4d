-- A search run is a snapshot as a whole: its rows come with it, in its transaction, whose time it has; and no table of them is
-- emptied, which no trigger of a row would see.
create function refuse_late_rows() returns trigger language plpgsql as $$
begin
  if exists (select from added join search_runs r on r.id = added.run_id where r.run_timestamp <> now()) then
    raise exception 'rows of % are snapshots and come with their run alone', tg_table_name
      using errcode = 'restrict_violation';
  end if;
  return null;
end $$;
create trigger search_results_raw_with_run after insert on search_results_raw
  referencing new table as added for each statement execute function refuse_late_rows();
create trigger search_results_processed_with_run after insert on search_results_processed
  referencing new table as added for each statement execute function refuse_late_rows();

create trigger search_runs_kept before truncate on search_runs for each statement execute function refuse_change();
create trigger search_results_raw_kept before truncate on search_results_raw
  for each statement execute function refuse_change();
create trigger search_results_processed_kept before truncate on search_results_processed
  for each statement execute function refuse_change();

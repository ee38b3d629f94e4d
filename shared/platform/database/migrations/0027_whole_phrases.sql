-- Snapshots are indexed with their stop words, so that phrases are found whole: those of before are indexed once more.
insert into snapshots_due (capture_id) select capture_id from snapshot_index on conflict do nothing;

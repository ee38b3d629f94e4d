-- What a request with an Idempotency-Key has made is found by its id where the ids of rows are numbers of the database.
alter table archive_jobs add column request_id uuid unique;
alter table search_runs add column request_id uuid unique;

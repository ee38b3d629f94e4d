-- Requests at once of the task that has claimed the row; null: as the fetcher is set. Those of all tasks of a job are added up
-- before more is claimed, so that the job keeps to its concurrency.
alter table frontier add column workers smallint;

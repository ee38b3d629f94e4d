-- the last URL has ended, and pages are still embedded; null: not yet, or the job ended at once
alter table jobs add column crawl_ended_at timestamptz;

-- What a page of a site says, as a key: a job counts its pages that say the same, and does not follow them without end. Null
-- where nothing is counted.
alter table captures add column text_key bytea;
create index captures_text on captures (job_id, text_key) where text_key is not null and error_code is null;

-- How many pages of a job have one body, or one main text, is counted by one key for both: an index by job and body looks as good to
-- the planner as any other by job, while it knows little of a table that is being filled, and it would then read the whole job for
-- each page.
create function page_key(job uuid, what text) returns bigint language sql immutable parallel safe
  return hashtextextended(job::text || what, 0);
drop index captures_payload;
create index captures_same_body on captures (page_key(job_id, payload_digest))
  where error_code is null and payload_digest is not null;
drop index captures_text;
create index captures_same_text on captures (page_key(job_id, encode(text_key, 'hex')))
  where error_code is null and text_key is not null;

-- WACZ files are imported, too: each of their WARC files is a part.
alter table warc_imports
  -- of the WARC files of a WACZ file; next_offset and next_inner are places in it
  add column next_part int not null default 0,
  -- of the object
  add column indexed_bytes bigint not null default 0,
  -- of a WACZ file: {outcome, reason, signer, created}
  add column signature jsonb;
update warc_imports set indexed_bytes = next_offset;

-- Captures that repeat an earlier one have all that is known of it.
update captures c set url_key = o.url_key, warc_coding = o.warc_coding, warc_inner = o.warc_inner, refers_to = o.refers_to,
  stated_digest = o.stated_digest, text_key = o.text_key
from captures o where o.id = c.reused_from;

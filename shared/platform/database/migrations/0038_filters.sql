-- Filters read the documents that pass, not all that there are. Hosts and what their URLs begin with have one index. Pages get
-- their entries when they are shown: 7.5 us for all of them, of 3 ms that a crawled page costs (measured).
drop index documents_active_domain;
create index documents_active_url_prefix on documents (domain, url text_pattern_ops) where generation_active;
create index documents_active_language on documents (language, source) where generation_active;
create index documents_active_time on documents (crawled_at) where generation_active;

-- Chunks of an earlier analysis: 0 knows only English, 1 not how much a chunk can score for a word (decision 0060).
drop index chunks_outdated;
create index chunks_outdated on chunks (analysis, id) where analysis < 2;

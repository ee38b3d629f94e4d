-- Searches ask for the documents of a tag.
create index document_tags_tag on document_tags (tag_id, document_id);

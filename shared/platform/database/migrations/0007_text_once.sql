-- The sections of a document are ranges of its text, kept in its row: what stood in `sections` was a third copy of the text, in
-- rows that each took three index entries and two foreign keys, and that nobody reads apart from their document. Measured,
-- with the text of chunks taken from the document as well: 0.6 of 4.4 ms of the database's CPU a page.
alter table documents
  -- [{heading, level, start, end, parent}] in order; start and end count UTF-16 code units of `content`, as those of chunks do;
  -- parent is the place in this list, from 0, or null
  add column sections jsonb not null default '[]';
-- the place in that list
alter table chunks add column section int;

do $$
declare
  document record;
  part record;
  ranges jsonb;
  -- in code points, from 1
  first int;
  following int;
begin
  for document in select d.id, d.content from documents d where exists (select from sections s where s.document_id = d.id) loop
    ranges := '[]';
    following := 1;
    for part in
      select s.heading, s.level, s.content, p.position as parent
      from sections s left join sections p on p.id = s.parent_section_id
      where s.document_id = document.id order by s.position
    loop
      first := following - 1 + greatest(1, strpos(substr(document.content, following), part.content));
      following := first + length(part.content);
      ranges := ranges || jsonb_build_object('heading', part.heading, 'level', part.level,
        'start', (select length(t) + regexp_count(t, '[\U00010000-\U0010ffff]') from left(document.content, first - 1) t),
        'end', (select length(t) + regexp_count(t, '[\U00010000-\U0010ffff]') from left(document.content, following - 1) t),
        'parent', part.parent);
    end loop;
    update documents set sections = ranges where id = document.id;
  end loop;
end $$;

update chunks c set section = s.position from sections s where s.id = c.section_id;
alter table chunks drop column section_id;
drop table sections;

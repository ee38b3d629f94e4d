-- Vectors of one model in two lengths do not compare: they are told apart like those of two models.

-- With a constant default the rows are not written anew.
do $$
declare
  known int := (select dimension from embedding_models where state = 'serving');
begin
  execute format('alter table embeddings add column dimension int default %L', known);
  alter table embeddings alter column dimension drop default;
end $$;
alter table embedding_models drop constraint embedding_models_pkey;
alter table embedding_models add primary key (model, dimension);

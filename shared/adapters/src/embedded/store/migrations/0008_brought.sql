-- Position of the batch that brought an act; none if it came before positions were kept.
ALTER TABLE curations ADD COLUMN position INTEGER;

-- How often derived things of the space were put.
ALTER TABLE spaces ADD COLUMN derived_turn INTEGER NOT NULL DEFAULT 0;

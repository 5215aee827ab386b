-- The clusterer listens to another subject now; what waited for it there would wait for ever.
DELETE FROM pending WHERE consumer_group IN
  (SELECT row FROM consumer_groups WHERE subject = 'units-written.v1' AND name = 'clusterer');
DELETE FROM consumer_groups WHERE subject = 'units-written.v1' AND name = 'clusterer';

-- Which generation of the points of a space is written, and whether it is being built; older points go when it is shown.
ALTER TABLE spaces ADD COLUMN generation INTEGER NOT NULL DEFAULT 0;
ALTER TABLE spaces ADD COLUMN building INTEGER NOT NULL DEFAULT 0;
ALTER TABLE points ADD COLUMN generation INTEGER NOT NULL DEFAULT 0;

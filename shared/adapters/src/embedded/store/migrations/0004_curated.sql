-- Number of curations of the space.
ALTER TABLE spaces ADD COLUMN curated INTEGER NOT NULL DEFAULT 0;
UPDATE spaces SET curated = (SELECT count(*) FROM curations WHERE space = spaces.row);

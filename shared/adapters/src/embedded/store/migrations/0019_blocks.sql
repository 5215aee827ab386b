-- What a reader computed from units, for all units of a space whose sequence is above `start` and at most `last`. Blocks never
-- overlap. The first change of one of these units deletes the block in the same transaction, so a block never outlives a text.
DROP TRIGGER unit_changed;
DROP TRIGGER unit_deleted;
DROP TABLE images;
CREATE TABLE unit_blocks (
  row INTEGER PRIMARY KEY,
  space INTEGER NOT NULL, start INTEGER NOT NULL, last INTEGER NOT NULL, version INTEGER NOT NULL,
  body BLOB NOT NULL, digest BLOB NOT NULL
);
CREATE UNIQUE INDEX unit_blocks_last ON unit_blocks (space, last, start, version);
CREATE TRIGGER unit_changed AFTER UPDATE ON units BEGIN
  DELETE FROM unit_blocks WHERE start < old.sequence AND row =
    (SELECT row FROM unit_blocks WHERE space = old.space AND last >= old.sequence ORDER BY last LIMIT 1);
END;
CREATE TRIGGER unit_deleted AFTER DELETE ON units BEGIN
  DELETE FROM unit_blocks WHERE start < old.sequence AND row =
    (SELECT row FROM unit_blocks WHERE space = old.space AND last >= old.sequence ORDER BY last LIMIT 1);
END;

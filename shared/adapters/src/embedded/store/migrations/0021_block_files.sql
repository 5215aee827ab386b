-- Files that hold the bodies of all blocks whose sequence numbers are above `start` and at most `last`: blocks in a row, of one
-- version. `digest` is null until a file is written. The first block of them that is deleted deletes the row in the same
-- transaction; the file is destroyed after the commit.
CREATE TABLE block_files (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  space INTEGER NOT NULL, start INTEGER NOT NULL, last INTEGER NOT NULL, version INTEGER NOT NULL, digest BLOB
);
CREATE INDEX block_files_last ON block_files (space, last);
CREATE TRIGGER block_deleted AFTER DELETE ON unit_blocks BEGIN
  DELETE FROM block_files WHERE space = old.space AND start < old.last AND last >= old.last;
END;

-- Files that hold the points of a space up to `last_row`, as the index uses them. `digest` is null until a file is written; then
-- the one before is deleted. The first change of one of these points deletes the row in the same transaction; the file is
-- destroyed when the index applies the change.
CREATE TABLE point_images (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  space INTEGER NOT NULL, last_row INTEGER NOT NULL, digest BLOB
);
CREATE INDEX point_images_space ON point_images (space);
CREATE TRIGGER point_changed AFTER UPDATE ON points
WHEN old.observed_at <> new.observed_at OR old.dense <> new.dense OR old.words <> new.words OR old.pieces <> new.pieces
BEGIN
  DELETE FROM point_images WHERE space = old.space AND last_row >= old.row;
END;
CREATE TRIGGER point_deleted AFTER DELETE ON points BEGIN
  DELETE FROM point_images WHERE space = old.space AND last_row >= old.row;
END;

-- What a reader computed from a unit, by the row of the unit. Any change of the unit deletes it in the same transaction, so an
-- image never outlives the text it was computed from.
CREATE TABLE images (row INTEGER PRIMARY KEY, version INTEGER NOT NULL, body BLOB NOT NULL);
CREATE TRIGGER unit_changed AFTER UPDATE ON units BEGIN DELETE FROM images WHERE row = old.row; END;
CREATE TRIGGER unit_deleted AFTER DELETE ON units BEGIN DELETE FROM images WHERE row = old.row; END;

-- The messages of a space are asked for by subject too.
DROP INDEX messages_space;
CREATE INDEX messages_space ON messages (space, subject);

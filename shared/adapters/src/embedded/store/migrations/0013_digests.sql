-- The first 16 bytes of the SHA-256 of each body, verified when the body is read: a body that was changed in the file is not
-- answered with.
ALTER TABLE records ADD COLUMN digest BLOB;
ALTER TABLE units ADD COLUMN digest BLOB;
ALTER TABLE derived ADD COLUMN digest BLOB;
ALTER TABLE curations ADD COLUMN digest BLOB;
ALTER TABLE images ADD COLUMN digest BLOB;

-- The units stay as they are, so their images stay too.
DROP TRIGGER unit_changed;
UPDATE records SET digest = digest_of(body);
UPDATE units SET digest = digest_of(body);
UPDATE derived SET digest = digest_of(body);
UPDATE curations SET digest = digest_of(body);
UPDATE images SET digest = digest_of(body);
CREATE TRIGGER unit_changed AFTER UPDATE ON units BEGIN DELETE FROM images WHERE row = old.row; END;

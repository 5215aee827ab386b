-- Receipts of erasures, by the name of the space: they outlive it. (seconds, nanos): when the erasure was asked for.
-- `completed`: when it was done, RFC 3339; null until then.
CREATE TABLE receipts (
  space TEXT NOT NULL, id BLOB NOT NULL, position INTEGER NOT NULL,
  seconds INTEGER NOT NULL, nanos INTEGER NOT NULL, completed TEXT, body BLOB NOT NULL,
  PRIMARY KEY (space, id)
) WITHOUT ROWID;
CREATE INDEX receipts_position ON receipts (space, position);

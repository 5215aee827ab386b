-- Keys of the API. `digest`: SHA-256 of the token. `former`: that of the token before the last rotation, valid until
-- `former_until`. `used`: when it was last used. Moments are milliseconds since 1970.
CREATE TABLE keys (
  name TEXT NOT NULL PRIMARY KEY, digest BLOB NOT NULL UNIQUE, former BLOB UNIQUE, former_until INTEGER,
  revoked INTEGER, used INTEGER, body BLOB NOT NULL
) WITHOUT ROWID;
CREATE INDEX keys_revoked ON keys (revoked);

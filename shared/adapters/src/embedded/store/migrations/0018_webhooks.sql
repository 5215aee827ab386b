-- Webhooks that were made through the API. They belong to no space.
CREATE TABLE webhooks (id BLOB NOT NULL PRIMARY KEY, body BLOB NOT NULL) WITHOUT ROWID;

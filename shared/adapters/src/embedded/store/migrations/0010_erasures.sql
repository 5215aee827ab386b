-- Deletions of spaces that some store may not have carried out yet. `created_at` is that of the deleted space.
CREATE TABLE unfinished_erasures (space TEXT PRIMARY KEY, created_at TEXT NOT NULL) WITHOUT ROWID;

-- Deleted spaces whose rows in other tables are erased in steps. `row`: their former row in `spaces`, which is never given out
-- again. Each of them has an entry of its name in `unfinished_erasures`.
CREATE TABLE deleted_spaces (row INTEGER PRIMARY KEY, name TEXT NOT NULL, created_at TEXT NOT NULL);

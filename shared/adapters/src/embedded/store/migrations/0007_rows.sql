-- The greatest row that a record ever had: a row is never given out again, so a cursor behind one that is erased passes nothing
-- by. AUTOINCREMENT would say the same, and would have every record written anew.
CREATE TABLE record_rows (one INTEGER PRIMARY KEY CHECK (one = 1), last INTEGER NOT NULL);
INSERT INTO record_rows SELECT 1, coalesce(max(row), 0) FROM records;

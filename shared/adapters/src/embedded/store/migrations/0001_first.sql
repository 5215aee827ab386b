-- Ids are UUIDs as 16 bytes. `space` is spaces.row and leads every key. Bodies are JSON of the domain types.
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

-- AUTOINCREMENT: the row of an erased space is never given out again, so nothing left in memory can come back.
CREATE TABLE spaces (
  row INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL UNIQUE,
  created_at TEXT NOT NULL,
  records INTEGER NOT NULL DEFAULT 0,
  units INTEGER NOT NULL DEFAULT 0,
  changes INTEGER NOT NULL DEFAULT 0
);

CREATE TABLE claims (
  space INTEGER NOT NULL, record BLOB NOT NULL, digest BLOB NOT NULL,
  PRIMARY KEY (space, record)
) WITHOUT ROWID;

-- `at`: seconds since 1970.
CREATE TABLE remembered (
  space INTEGER NOT NULL, key TEXT NOT NULL, at INTEGER NOT NULL, request BLOB NOT NULL, response BLOB NOT NULL,
  PRIMARY KEY (space, key)
);
CREATE INDEX remembered_at ON remembered (space, at);

-- (seconds, nanos, ordinal, id) orders a session; `ordinal` is shifted so that it sorts as unsigned.
CREATE TABLE records (
  row INTEGER PRIMARY KEY,
  space INTEGER NOT NULL, id BLOB NOT NULL, session BLOB NOT NULL,
  seconds INTEGER NOT NULL, nanos INTEGER NOT NULL, ordinal INTEGER NOT NULL,
  body BLOB NOT NULL
);
CREATE UNIQUE INDEX records_id ON records (space, id);
CREATE INDEX records_space ON records (space);
CREATE INDEX records_session ON records (space, session, seconds, nanos, ordinal, id);

CREATE TABLE written (space INTEGER NOT NULL, position INTEGER NOT NULL, PRIMARY KEY (space, position)) WITHOUT ROWID;

-- `counted` says whether the unit is in spaces.units; a removed unit stays as a change with status superseded.
CREATE TABLE units (
  row INTEGER PRIMARY KEY,
  space INTEGER NOT NULL, id BLOB NOT NULL, sequence INTEGER NOT NULL,
  removed INTEGER NOT NULL, counted INTEGER NOT NULL, body BLOB NOT NULL
);
CREATE UNIQUE INDEX units_id ON units (space, id);
CREATE UNIQUE INDEX units_sequence ON units (space, sequence);

CREATE TABLE relations (
  space INTEGER NOT NULL, source BLOB NOT NULL, kind INTEGER NOT NULL, label TEXT NOT NULL, target BLOB NOT NULL,
  weight REAL NOT NULL, evidence BLOB NOT NULL,
  PRIMARY KEY (space, source, kind, label, target)
) WITHOUT ROWID;
CREATE INDEX relations_target ON relations (space, target, source, kind, label);

CREATE TABLE facts (row INTEGER PRIMARY KEY, space INTEGER NOT NULL, id BLOB NOT NULL, body BLOB NOT NULL);
CREATE UNIQUE INDEX facts_id ON facts (space, id);

CREATE TABLE entities (row INTEGER PRIMARY KEY, space INTEGER NOT NULL, id BLOB NOT NULL, body BLOB NOT NULL);
CREATE UNIQUE INDEX entities_id ON entities (space, id);

-- Vectors are little-endian: `dense` f32, `words` and `pieces` pairs of u32 term and f32 weight.
CREATE TABLE points (
  row INTEGER PRIMARY KEY,
  space INTEGER NOT NULL, unit BLOB NOT NULL, part INTEGER NOT NULL, observed_at INTEGER NOT NULL,
  dense BLOB NOT NULL, words BLOB NOT NULL, pieces BLOB NOT NULL
);
CREATE UNIQUE INDEX points_id ON points (space, unit, part);
-- A space is loaded in the order of its rows: as they lie in the file.
CREATE INDEX points_space ON points (space);

-- The queue names spaces by text: it takes messages of spaces that are not made yet.
CREATE TABLE consumer_groups (
  row INTEGER PRIMARY KEY, subject TEXT NOT NULL, name TEXT NOT NULL, UNIQUE (subject, name)
);

-- AUTOINCREMENT: a position is never given out twice, a watermark stays true after its message is gone.
CREATE TABLE messages (
  position INTEGER PRIMARY KEY AUTOINCREMENT,
  subject TEXT NOT NULL, space TEXT NOT NULL, dedup_key TEXT NOT NULL, headers BLOB NOT NULL, payload BLOB NOT NULL
);
CREATE INDEX messages_subject ON messages (subject, position);
CREATE INDEX messages_space ON messages (space);

-- What a group has still to settle. `visible_at`: milliseconds since 1970, 0 for at once.
CREATE TABLE pending (
  consumer_group INTEGER NOT NULL, position INTEGER NOT NULL, space TEXT NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0, visible_at INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (consumer_group, position)
) WITHOUT ROWID;
CREATE INDEX pending_position ON pending (position);
CREATE INDEX pending_space ON pending (space);

-- Outlives the message, for a while. `at`: seconds since 1970.
CREATE TABLE dedup_keys (
  subject TEXT NOT NULL, key TEXT NOT NULL, position INTEGER NOT NULL, space TEXT NOT NULL, at INTEGER NOT NULL,
  PRIMARY KEY (subject, key)
) WITHOUT ROWID;
CREATE INDEX dedup_keys_position ON dedup_keys (position);
CREATE INDEX dedup_keys_space ON dedup_keys (space);

-- A dead letter keeps its own copy, so that the message can leave the queue. `at`: milliseconds since 1970.
CREATE TABLE dead_letters (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  consumer_group INTEGER NOT NULL, position INTEGER NOT NULL, subject TEXT NOT NULL, space TEXT NOT NULL,
  dedup_key TEXT NOT NULL, headers BLOB NOT NULL, payload BLOB NOT NULL,
  reason TEXT NOT NULL, attempts INTEGER NOT NULL, at INTEGER NOT NULL
);
CREATE INDEX dead_letters_space ON dead_letters (space);

-- How many messages and dead letters are kept, so that the bound of the queue costs no count.
CREATE TABLE frames (one INTEGER PRIMARY KEY CHECK (one = 1), kept INTEGER NOT NULL);
INSERT INTO frames VALUES (1, 0);
CREATE TRIGGER message_in AFTER INSERT ON messages BEGIN UPDATE frames SET kept = kept + 1; END;
CREATE TRIGGER message_out AFTER DELETE ON messages BEGIN UPDATE frames SET kept = kept - 1; END;
CREATE TRIGGER dead_letter_in AFTER INSERT ON dead_letters BEGIN UPDATE frames SET kept = kept + 1; END;
CREATE TRIGGER dead_letter_out AFTER DELETE ON dead_letters BEGIN UPDATE frames SET kept = kept - 1; END;

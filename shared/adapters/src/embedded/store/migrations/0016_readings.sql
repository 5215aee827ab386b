-- What language models said about records. `at`: when it replied, milliseconds since 1970. `failed`: nothing came of it.
CREATE TABLE readings (
  space INTEGER NOT NULL, id BLOB NOT NULL, session BLOB NOT NULL, at INTEGER NOT NULL, failed INTEGER NOT NULL,
  calls INTEGER NOT NULL, prompt_tokens INTEGER NOT NULL, completion_tokens INTEGER NOT NULL, ms REAL NOT NULL,
  body BLOB NOT NULL, digest BLOB NOT NULL,
  PRIMARY KEY (space, id)
) WITHOUT ROWID;
CREATE INDEX readings_session ON readings (space, session, id);
CREATE INDEX readings_at ON readings (space, at);
-- The records whose words a model was shown.
CREATE TABLE read_records (
  space INTEGER NOT NULL, record BLOB NOT NULL, reading BLOB NOT NULL,
  PRIMARY KEY (space, record, reading)
) WITHOUT ROWID;
CREATE INDEX read_records_reading ON read_records (space, reading);
-- Sessions in which something may have to be read. Times in milliseconds since 1970; `leased` is 0 if nobody has it.
CREATE TABLE wanted_sessions (
  space INTEGER NOT NULL, session BLOB NOT NULL, due INTEGER NOT NULL, wanted INTEGER NOT NULL, leased INTEGER NOT NULL,
  PRIMARY KEY (space, session)
) WITHOUT ROWID;

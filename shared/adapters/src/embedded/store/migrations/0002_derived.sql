-- Facts and entities are derived again, from the units.
DROP TABLE facts;
DROP TABLE entities;

-- `kind`: place in the list of kinds. What is gone stays as a change with an empty body.
CREATE TABLE derived (
  row INTEGER PRIMARY KEY,
  space INTEGER NOT NULL, kind INTEGER NOT NULL, id BLOB NOT NULL, sequence INTEGER NOT NULL,
  removed INTEGER NOT NULL, body BLOB NOT NULL
);
CREATE UNIQUE INDEX derived_id ON derived (space, kind, id);
CREATE UNIQUE INDEX derived_sequence ON derived (space, sequence);
ALTER TABLE spaces ADD COLUMN derived_changes INTEGER NOT NULL DEFAULT 0;

CREATE TABLE curations (
  space INTEGER NOT NULL, id BLOB NOT NULL, body BLOB NOT NULL,
  PRIMARY KEY (space, id)
) WITHOUT ROWID;

-- (seconds, nanos) since 1970. `kind`: place in the list of kinds.
CREATE TABLE notes (
  space INTEGER NOT NULL, scope TEXT NOT NULL, subject BLOB NOT NULL, kind INTEGER NOT NULL,
  seconds INTEGER NOT NULL, nanos INTEGER NOT NULL,
  PRIMARY KEY (space, scope, subject, kind)
) WITHOUT ROWID;

-- A removed unit keeps nothing of what it said.
UPDATE units SET body = CAST(
  json_set(
    json_remove(
      CAST(body AS TEXT), '$.addressee', '$.caption', '$.times', '$.participants', '$.location', '$.action', '$.step',
      '$.changes', '$.tag', '$.cues', '$.question'
    ),
    '$.records', json('[]'), '$.external_ids', json('[]'), '$.actor', '', '$.text', '', '$.summary', '',
    '$.status', 'superseded'
  ) AS BLOB
) WHERE removed = 1;

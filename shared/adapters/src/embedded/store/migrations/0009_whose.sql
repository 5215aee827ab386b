-- Whose a record or a unit is, to list it by: `actor` in lower case. A unit that was removed is nobody's.
ALTER TABLE records ADD COLUMN actor TEXT;
ALTER TABLE units ADD COLUMN session BLOB;
ALTER TABLE units ADD COLUMN actor TEXT;
UPDATE records SET actor = actor_of(body);
UPDATE units SET session = session_of(body), actor = actor_of(body) WHERE removed = 0;

-- Every index ends with the row: the records of an actor in the order of their rows.
CREATE INDEX records_actor ON records (space, actor);
CREATE INDEX units_session ON units (space, session, sequence);
CREATE INDEX units_actor ON units (space, actor, sequence);

-- The records of a session in the order of their rows, which end every index.
CREATE INDEX records_listed ON records (space, session);

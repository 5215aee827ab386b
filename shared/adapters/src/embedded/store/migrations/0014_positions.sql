-- Whether a batch brought acts is asked each time one is marked as written.
CREATE INDEX curations_position ON curations (space, position);

-- The cost of the deleted readings that were made on one day, since the budget of a day counts the calls that were made.
-- `removed_day`: the latest such day (UTC), in days since 1970.
ALTER TABLE spaces ADD COLUMN removed_day INTEGER NOT NULL DEFAULT 0;
ALTER TABLE spaces ADD COLUMN removed_calls INTEGER NOT NULL DEFAULT 0;
ALTER TABLE spaces ADD COLUMN removed_prompt_tokens INTEGER NOT NULL DEFAULT 0;
ALTER TABLE spaces ADD COLUMN removed_completion_tokens INTEGER NOT NULL DEFAULT 0;
ALTER TABLE spaces ADD COLUMN removed_ms REAL NOT NULL DEFAULT 0.0;

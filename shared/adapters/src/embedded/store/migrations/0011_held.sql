-- Until when a request that is in flight holds the key, milliseconds since 1970; null once its response is remembered.
ALTER TABLE remembered ADD COLUMN held_until INTEGER;

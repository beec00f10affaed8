-- Guarded: runs when customers.search-name.v1 is completed, or where there are no customers yet.
ALTER TABLE customers ALTER COLUMN search_name SET NOT NULL;

ALTER TABLE customers ADD COLUMN search_name text;

-- Which set of keys held a key first: a successor that came with the key that signs is known wherever that one is.

alter table signing_keys add column first_seq bigint check (first_seq >= 0);
comment on column signing_keys.first_seq is 'seq of the first published key set that held it; null for keys of older releases. Never changed.';

-- Keys of two uses, and a number for each state of the key set. Times named *_ms are epoch milliseconds, *_s epoch seconds.

alter table signing_keys
  add column use text not null default 'line' check (use in ('line', 'admission'));
comment on column signing_keys.use is 'What it signs: line: tickets and statements; admission: admissions. A key from before there were two has no vst_use in its public_jwk: it signed both.';
comment on column signing_keys.sealed is 'The private key as a JWE under the key-encryption key; gone once it does not sign any more.';
comment on column signing_keys.signed_until_s is 'No exp of anything that it signed is later. Set when it retires; later when an end of an event is moved.';

-- One signing key for each use. An older release, which knows of one use, goes on with the oldest signing key: as long as
-- the key of the line was not rotated, that is the one which may sign both.
drop index signing_keys_one_signing;
create unique index signing_keys_one_signing on signing_keys (use) where state = 'signing';

create table key_set (
  id smallint primary key default 1 check (id = 1),
  seq bigint not null check (seq >= 0)
);
comment on table key_set is 'One row. Changes of signing_keys are planned on a seq and raise it, so that none is planned on keys that are out of date.';
comment on column key_set.seq is 'Published in the key set and in statements: no location goes back. At least the epoch milliseconds of the change, so that a database that lost its last commits still counts on.';
insert into key_set (seq) values (0);

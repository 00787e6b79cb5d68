-- Signing keys. Times named *_ms are epoch milliseconds, *_s epoch seconds.

create table signing_keys (
  kid text primary key,
  state text not null check (state in ('staged', 'signing', 'retiring', 'retired', 'revoked')),
  since_ms bigint not null,
  signed_until_s bigint,
  public_jwk jsonb not null,
  sealed text,
  created_at_ms bigint not null
);
comment on column signing_keys.kid is 'RFC 7638 thumbprint of the public key.';
comment on column signing_keys.since_ms is 'When it took its state: what keys/rotation decides by.';
comment on column signing_keys.signed_until_s is 'The latest exp among all that it signed, where that is known.';
comment on column signing_keys.sealed is 'The private key as a JWE under the key-encryption key; gone once it is retired or revoked.';
create unique index signing_keys_one_signing on signing_keys ((true)) where state = 'signing';

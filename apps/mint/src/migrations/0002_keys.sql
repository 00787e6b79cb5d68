-- Signing keys. Times named *_ms are epoch milliseconds.

create table signing_keys (
  kid text primary key,
  state text not null check (state in ('staged', 'signing', 'retiring', 'retired', 'revoked')),
  public_jwk jsonb not null,
  sealed text,
  created_at_ms bigint not null,
  staged_at_ms bigint,
  signing_at_ms bigint,
  retiring_at_ms bigint,
  retired_at_ms bigint,
  revoked_at_ms bigint
);
comment on column signing_keys.kid is 'RFC 7638 thumbprint of the public key.';
comment on column signing_keys.sealed is 'The private key as a JWE under the key-encryption key; gone once it is retired or revoked.';
create unique index signing_keys_one_signing on signing_keys ((true)) where state = 'signing';

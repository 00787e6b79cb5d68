-- What is sold, what was spent, what was bought. All moments are epoch milliseconds of the purchase API's clock.

create table stock (
  event text not null,
  sku text not null,
  total integer not null check (total >= 0),
  sold integer not null default 0 check (sold >= 0),
  per_purchase_max integer not null check (per_purchase_max >= 1),
  show_remaining boolean not null,
  primary key (event, sku),
  -- The last word on law 4: whatever the code does, no row says that more was sold than there is.
  constraint stock_never_oversold check (sold <= total)
) with (fillfactor = 50); -- room for HOT updates: one row takes every sale
comment on table stock is 'What an event sells. The row is the lock that every purchase of it takes.';
comment on column stock.sold is 'Sum of the quantities of all orders of this event and sku.';
comment on column stock.per_purchase_max is 'Largest quantity of one purchase.';
comment on column stock.show_remaining is 'Whether the public stock view says how many are left.';

create table spends (
  jti text primary key,
  event text not null,
  visitor text not null,
  number bigint not null,
  idempotency_key text not null,
  request text not null,
  order_id text,
  spent_at bigint not null,
  constraint spends_one_per_key unique (event, visitor, idempotency_key)
);
comment on table spends is 'One row for each admission that was used. It is never deleted while its admission could be valid.';
comment on column spends.jti is 'The admission''s name; the primary key is what makes it spendable once.';
comment on column spends.visitor is 'SHA-256 of the visitor''s secret, as in the admission''s sub.';
comment on column spends.number is 'Place in line.';
comment on column spends.idempotency_key is 'As the caller sent it; unique within one event and visitor.';
comment on column spends.request is 'What was asked for, in one canonical text: the same key with another text is refused.';
comment on column spends.order_id is 'The order of a purchase; null for a bare spend.';

create table orders (
  order_id text primary key,
  event text not null,
  sku text not null,
  quantity integer not null check (quantity >= 1),
  number bigint not null,
  visitor text not null,
  jti text not null unique,
  purchased_at bigint not null
);
comment on table orders is 'What was bought. Written in the transaction of its spend and its stock.';
comment on column orders.order_id is '128 random bits, base64url.';
comment on column orders.number is 'Place in line of the buyer.';
comment on column orders.visitor is 'Who may read this order: SHA-256 of the visitor''s secret.';
comment on column orders.jti is 'The admission that was spent for it.';

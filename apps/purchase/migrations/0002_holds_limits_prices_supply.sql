-- Holds, limits for one buyer, prices, and what the mint is told of the supply. Only additions: the code
-- of 0001 runs on beside this. It knows nothing of what is held, and where it would sell that, the
-- constraint on the stock row refuses it.

alter table stock
  add column held integer not null default 0 check (held >= 0),
  add column per_buyer_max integer check (per_buyer_max >= 1),
  add column hold_seconds integer not null default 600 check (hold_seconds >= 1),
  add column hold_extension_seconds integer not null default 600 check (hold_extension_seconds >= 0),
  add column price_minor bigint check (price_minor >= 0),
  add column currency text,
  add constraint stock_price_with_currency check ((price_minor is null) = (currency is null)),
  drop constraint stock_never_oversold,
  -- The last word on law 4: whatever the code does, no row says that more was given away than there is.
  add constraint stock_never_oversold check (sold + held <= total);
comment on column stock.held is 'Sum of the quantities of all holds of this event and sku whose state is held.';
comment on column stock.per_buyer_max is 'Largest quantity of one buyer over all of their admissions, counted from when it is set; null: no bound.';
comment on column stock.hold_seconds is 'How long a new hold keeps its seats.';
comment on column stock.hold_extension_seconds is 'By how much a new hold may be extended, once; 0: not offered.';
comment on column stock.price_minor is 'Price of one piece in the smallest unit of the currency; null: the shop knows it.';
comment on column stock.currency is 'ISO 4217.';

alter table spends add column hold_id text;
comment on column spends.hold_id is 'The hold that the admission was spent for. When that fails by a fault, this row is deleted with it: the admission is unspent again.';
comment on table spends is 'One row for each admission that was used. Deleted only when its hold failed by a fault of ours or the shop''s.';

alter table orders
  add column hold_id text,
  add column amount_minor bigint check (amount_minor >= 0),
  add column currency text;
comment on column orders.hold_id is 'The hold that became this order, if any.';
comment on column orders.amount_minor is 'Price times quantity as the buyer was told, in the smallest unit of the currency; null: no price was set.';

create table holds (
  hold_id text primary key,
  event text not null,
  sku text not null,
  quantity integer not null check (quantity >= 1),
  number bigint not null,
  visitor text not null,
  buyer text not null,
  counted boolean not null,
  jti text not null,
  slot bigint not null,
  idempotency_key text not null,
  request text not null,
  state text not null default 'held'
    check (state in ('held', 'confirmed', 'cancelled', 'expired', 'failed')),
  held_at timestamptz not null,
  expires_at timestamptz not null,
  extension_seconds integer not null,
  extended boolean not null default false,
  amount_minor bigint,
  currency text,
  payment_reference text,
  order_id text,
  ended_at timestamptz,
  -- A key stays used when its hold failed and its spend was undone.
  constraint holds_one_per_key unique (event, visitor, idempotency_key),
  constraint holds_confirmed_is_an_order check (
    (state = 'confirmed') = (order_id is not null) and (order_id is null) = (payment_reference is null)
  ),
  constraint holds_end check ((state = 'held') = (ended_at is null))
) with (fillfactor = 80);
create index holds_due on holds (expires_at) where state = 'held';
comment on table holds is 'Seats kept for a buyer. Moments here are of PostgreSQL''s clock, which alone decides what is over. Whoever ends a hold locks its row first, then the stock row.';
comment on column holds.hold_id is '128 random bits, base64url.';
comment on column holds.buyer is 'Whose limit it counts against: the visitor''s hash, or user: and a hash of the shop''s user name.';
comment on column holds.counted is 'Whether it was counted in buyer_totals, and is taken off there when it ends unsold.';
comment on column holds.jti is 'The admission that was spent for it. Not unique: one whose hold failed may be used again.';
comment on column holds.slot is 'When the admission''s slot opened, epoch seconds: for a credit when the hold fails.';
comment on column holds.extension_seconds is 'What was offered to the buyer when the hold began.';
comment on column holds.payment_reference is 'The payment that confirmed it: the same one again gets the same order.';

create table buyer_totals (
  event text not null,
  sku text not null,
  buyer text not null,
  quantity integer not null check (quantity >= 0),
  primary key (event, sku, buyer)
);
comment on table buyer_totals is 'What one buyer bought or holds of a sku that has per_buyer_max. Only changed while the stock row is locked.';

create table supply (
  event text primary key,
  sold_out boolean not null,
  seq bigint not null check (seq >= 1),
  acked_seq bigint not null default 0,
  check (acked_seq <= seq)
);
comment on table supply is 'What the mint is told: whether anything of the event is left. Missing row: never told anything.';
comment on column supply.seq is 'Grows with every change of sold_out, over all purchase instances.';
comment on column supply.acked_seq is 'The last seq that the mint acknowledged.';

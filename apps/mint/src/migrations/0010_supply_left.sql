-- How much is left, as the purchase API reports it. Only additions: an older mint leaves them as they are.

alter table events
  add column supply_left bigint check (supply_left >= 0),
  add column supply_left_seq bigint not null default 0 check (supply_left_seq >= 0);
comment on column events.supply_left is 'At most so many pieces can still be sold, held ones among them; null: nobody said. Only told to those who wait, as a band.';
comment on column events.supply_left_seq is 'Number of the last report that said something of it.';

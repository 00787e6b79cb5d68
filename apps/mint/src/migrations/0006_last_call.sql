-- The last call, as the purchase API reports it. Only additions: an older mint leaves them as they are. Times named *_ms are
-- epoch milliseconds.

alter table events
  add column supply_last_call_at_ms bigint,
  add column supply_last_call_seq bigint not null default 0 check (supply_last_call_seq >= 0);
comment on column events.supply_last_call_at_ms is 'Since when what is left may not last, or when it last came back after all was gone; null: it lasts, or nobody said.';
comment on column events.supply_last_call_seq is 'Number of the last report that said something of it.';

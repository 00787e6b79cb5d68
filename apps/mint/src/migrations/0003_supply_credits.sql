-- Sold out and back in stock, as the purchase API reports it; slots that are made good. Times named *_ms are epoch milliseconds.

alter table events
  add column supply_out_at_ms bigint,
  add column supply_seq bigint not null default 0 check (supply_seq >= 0);
comment on column events.supply_out_at_ms is 'Since when the purchase API has nothing left to sell; null: something is left, or it never said. Unlike soldout_at_ms it may be taken back.';
comment on column events.supply_seq is 'Number of the last report that was heard: one that is not above it changes nothing.';

create table credits_used (
  event text not null references events,
  n bigint not null check (n >= 1),
  slot_s bigint not null check (slot_s >= 0),
  used_at_ms bigint not null,
  primary key (event, n, slot_s)
);
comment on table credits_used is 'Slots that were made good, each once: written in the step that puts the number on demand. A number in here may have several slots; the latest one counts.';
comment on column credits_used.slot_s is 'The second in which the slot opened that could not be used: nbf of its admission.';

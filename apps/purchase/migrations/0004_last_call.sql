-- The last call that the mint is told of. Only additions: the code of 0003 runs on beside this; where it raises seq or
-- acknowledges, that is about sold_out alone.

alter table supply
  add column last_call boolean not null default false,
  add column last_call_acked_seq bigint not null default 0,
  add constraint supply_last_call_acked check (last_call_acked_seq <= seq);
update supply set last_call_acked_seq = acked_seq;
comment on table supply is 'What the mint is told: whether anything of the event is left, and whether it will last. Missing row: never told anything.';
comment on column supply.last_call is 'What is left may be gone soon, at the pace of selling.';
comment on column supply.seq is 'Grows with every change of sold_out or last_call, over all purchase instances.';
comment on column supply.acked_seq is 'The last seq whose sold_out the mint acknowledged.';
comment on column supply.last_call_acked_seq is 'The last seq whose last_call the mint acknowledged: an older mint takes sold_out alone.';

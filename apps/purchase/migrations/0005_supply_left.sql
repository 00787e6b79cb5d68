-- How much is left, as the mint is told. Only additions: the code of 0004 runs on beside this; where it raises seq or
-- acknowledges, that is about the rest.

alter table supply
  add column units_left bigint check (units_left >= 0),
  add column left_acked_seq bigint not null default 0,
  add constraint supply_left_acked check (left_acked_seq <= seq);
comment on table supply is 'What the mint is told: whether anything of the event is left, for how long, and about how much. Missing row: never told anything.';
comment on column supply.units_left is 'At most so many pieces of all skus are not sold, held ones among them: a band; null: never told.';
comment on column supply.left_acked_seq is 'The last seq whose units_left the mint acknowledged.';

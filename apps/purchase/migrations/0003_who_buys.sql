-- Who a buyer of a sku is. Only an addition: the code of 0002 runs on beside this and sells to every visitor, so that
-- 'users' is set when no instance of it runs any more.

alter table stock
  add column buyers text not null default 'visitors' check (buyers in ('visitors', 'users'));
comment on column stock.buyers is 'visitors: whoever has an admission. users: only those whom the shop names, so that nobody has a limit of their own at another door.';

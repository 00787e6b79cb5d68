-- Places that are given beforehand, in batches. Only additions. Times named *_ms are epoch milliseconds.

create table premints (
  event text not null references events,
  batch text not null,
  first bigint not null check (first >= 1),
  count integer not null check (count >= 1),
  digest text not null,
  at_ms bigint not null,
  primary key (event, batch)
);
comment on table premints is 'One row a batch: its numbers first … first+count-1, written before any of them is signed. A batch asked again has the same ones.';
comment on column premints.batch is 'Named by whoever asked.';
comment on column premints.digest is 'SHA-256 of its people in their order: the same name for other people is refused.';

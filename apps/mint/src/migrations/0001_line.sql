-- The line: who leads, the events, the numbers, the drip and the claims. Times named *_ms are epoch milliseconds.

create table lease (
  id smallint primary key default 1 check (id = 1),
  holder text not null,
  epoch bigint not null check (epoch >= 0),
  expires_at timestamptz not null,
  released boolean not null
);
comment on table lease is 'One row: which mint is the single writer. Grants lock it FOR KEY SHARE, a takeover FOR UPDATE, so that no grant of an old leader commits after one.';
comment on column lease.holder is 'Random name of the leading process: tells two leaders apart even when a failover lost an epoch.';
comment on column lease.epoch is 'Only grows, by one with every takeover.';
comment on column lease.expires_at is 'By the clock of this database. Decides only how soon a standby may take over.';
comment on column lease.released is 'The last leader ended cleanly: nothing is in doubt.';
insert into lease (holder, epoch, expires_at, released) values ('', 0, now(), true);

create table events (
  event text primary key,
  position bigint generated always as identity unique,
  settings jsonb not null,
  version integer not null default 1 check (version >= 1),
  created_at_ms bigint not null,
  held_since_ms bigint,
  hold_scope text check (hold_scope in ('entries', 'all')),
  hold_reason text,
  soldout_at_ms bigint,
  ended_at_ms bigint,
  reserved bigint not null default 0 check (reserved >= 0),
  line_version bigint not null default 0,
  next_number bigint not null default 1 check (next_number >= 1),
  frontier_ms bigint not null default 0,
  give_back_micro bigint not null default 0 check (give_back_micro >= 0),
  granted bigint not null default 0 check (granted >= 0),
  serving bigint not null default 0 check (serving >= 0),
  lapsed bigint not null default 0 check (lapsed >= 0),
  check ((held_since_ms is null) = (hold_scope is null))
);
comment on column events.settings is 'What the organizer set, checked by contracts/event-settings.';
comment on column events.version is 'Grows with every change by an organizer: the ETag of the admin API.';
comment on column events.reserved is 'Highest number that any block reserved or that a takeover skipped.';
comment on column events.line_version is 'Grows with every step of the drip: a step that was planned on another state does nothing.';
comment on column events.next_number is 'Lowest number that the drip has neither given a slot nor skipped.';
comment on column events.frontier_ms is 'End of the last committed segment.';
comment on column events.give_back_micro is 'Lapsed slots not yet given back, in millionths of a slot.';
comment on column events.granted is 'Slots committed, without those that lapsed or were cut: what maxAdmissions bounds.';
comment on column events.serving is 'Highest number whose slot had opened when its segment was settled: the serving number never falls below it.';
comment on column events.lapsed is 'Slots that nobody claimed in time, all together.';

create table number_blocks (
  event text not null references events,
  epoch bigint not null,
  first bigint not null check (first >= 1),
  last bigint not null check (last >= first),
  issued_through bigint not null check (issued_through between first - 1 and last),
  closed boolean not null default false,
  primary key (event, epoch)
);
comment on table number_blocks is 'Numbers reserved by one leader; the block grows while it leads. Numbers outside of every first … issued_through are held by nobody, as far as is known.';
comment on column number_blocks.last is 'Reserved up to here, before any of it is given.';
comment on column number_blocks.issued_through is 'Given up to here, written about once a second. After a crash the numbers behind it are in doubt.';
comment on column number_blocks.closed is 'Its leader has ended: nothing more is given from it.';

create table segments (
  event text not null references events,
  id bigint generated always as identity,
  base bigint not null check (base >= 1),
  count bigint not null check (count >= 1),
  from_ms bigint not null,
  until_ms bigint not null check (until_ms >= from_ms),
  cut_after_ms bigint,
  settled boolean not null default false,
  claimed bigint not null default 0,
  lapsed bigint not null default 0,
  epoch bigint not null,
  primary key (event, id)
);
comment on table segments is 'The committed drip: base … base+count-1 open evenly over [from_ms, until_ms). Never changed, except that a hold cuts its end and that it is settled.';
comment on column segments.cut_after_ms is 'Slots that open after it are void: a hold cut them, and they are committed anew.';
comment on column segments.settled is 'All its claim windows are over; claimed and lapsed are final.';
create index segments_by_number on segments (event, base desc, id desc);
create index segments_open on segments (event, id) where not settled;

create table claims (
  event text not null references events,
  n bigint not null check (n >= 1),
  segment bigint not null,
  claimed_at_ms bigint not null,
  primary key (event, n)
);
comment on table claims is 'Who claimed their slot in time. What a hold cuts is removed here, and claimed anew in its new slot.';
create index claims_by_segment on claims (event, segment);

create table demand (
  event text not null references events,
  position bigint not null,
  first bigint not null check (first >= 1),
  last bigint not null check (last >= first),
  primary key (event, position)
);
comment on table demand is 'Runs of numbers that the line has passed and that wait for a slot of their own: cut by a hold, or in doubt after a crash and shown by their holder. First in line, in this order.';
comment on column demand.position is 'Chosen by the leader: a hold puts what it cut in front of the lowest.';
create unique index demand_by_number on demand (event, first);

create table cuts (
  event text not null references events,
  since_ms bigint not null,
  until_ms bigint not null check (until_ms >= since_ms),
  primary key (event, since_ms)
);
comment on table cuts is 'Ended holds: admissions for slots after since_ms that were signed before until_ms are void.';

create table audit_log (
  id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  actor text not null,
  action text not null,
  event text,
  version integer,
  detail jsonb not null default '{}'
);
comment on table audit_log is 'What organizers did. Written in the transaction of the deed; never changed.';

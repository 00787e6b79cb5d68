-- Events that are over for long and whose rows have gone. Only additions. Times named *_ms are epoch milliseconds.

alter table events
  add column archived_at_ms bigint,
  add column archive jsonb,
  add check ((archived_at_ms is null) = (archive is null));
comment on column events.archived_at_ms is 'Since when it is archived, for good: it is read no more, its name is never free again, and its rows elsewhere go, but those of audit_log.';
comment on column events.archive is 'What is left of its rows: how many were issued, claimed, lapsed and so on.';

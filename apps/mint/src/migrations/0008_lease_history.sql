-- Which history of the database the leader wrote to (ADR 16). Only an addition: an older mint leaves it as it is.

alter table lease add column history text;
comment on column lease.history is 'System identifier and timeline of the server on which the lease was taken, "server/timeline"; null: the server does not say. Another one now: commits may be lost, and the next leader skips what they may have used.';
comment on column lease.epoch is 'Only grows: by one with every takeover, by a thousand more for each history that may have been lost.';
comment on column lease.expires_at is 'By the clock of this database. Decides how soon a standby may take over, and says when the last renewal was that is on record.';

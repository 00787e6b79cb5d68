import { takeToken } from "../bucket-level.ts";
import { isWhole, type Script } from "../script.ts";
import type { Taken } from "../token-bucket.ts";

/** Refills and takes one token, by the server's own clock. */
export const TAKE_TOKEN: Script<Taken> = {
  name: "take_token",
  text: `-- take_token: refills a bucket and takes one token (GCRA: what is kept is when it will be full).
-- KEYS[1]  the bucket: its expiry is when it will be full; what it holds is of no meaning
-- ARGV[1]  capacity, tokens >= 1
-- ARGV[2]  refill, milliseconds a token
-- Returns  milliseconds until the bucket is full, 1 or more: taken; the same below 0: refused
-- A refusal writes nothing, except to cut a debt that is larger than an empty bucket's (the clock was set back, or
-- the policy changed). It and all that follows a first take go on while memory is full.
local key, refill = KEYS[1], ARGV[2]
local debt = redis.call('PTTL', key)
if debt < 0 then
  -- No key, or one without expiry, which no script here leaves: a full bucket, whatever it holds.
  redis.call('SET', key, '1', 'PX', refill)
  return refill + 0
end

local empty = ARGV[1] * refill
local owed = debt + refill
if owed <= empty then
  redis.call('PEXPIRE', key, owed)
  return owed
end
if debt > empty then
  redis.call('PEXPIRE', key, empty)
  return -empty
end
return -debt
`,
  read: (reply, [capacity, refillMs]) => {
    if (!isWhole(reply)) return undefined;
    const policy = { capacity: Number(capacity), refillMs: Number(refillMs) };
    const debtMs = reply > 0 ? reply - policy.refillMs : -reply;
    if (debtMs < 0 || debtMs > policy.capacity * policy.refillMs) return undefined;
    // Never "allowed" by anything but the sign, and only when the level before agrees with that (case RL-05).
    const taken = takeToken(policy, debtMs);
    return taken.allowed === reply > 0 ? taken : undefined;
  },
};

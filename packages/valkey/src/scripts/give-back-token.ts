import type { Script } from "../script.ts";

/** Undoes one take. */
export const GIVE_BACK_TOKEN: Script<true> = {
  name: "give_back_token",
  text: `-- give_back_token: puts one token back, never above the capacity.
-- KEYS[1]  the bucket: its expiry is when it will be full; what it holds is of no meaning
-- ARGV[1]  capacity, tokens >= 1
-- ARGV[2]  refill, milliseconds a token
-- Returns  1
-- A bucket that is full has no key.
local key, refill = KEYS[1], ARGV[2]
local debt = math.min(redis.call('PTTL', key), ARGV[1] * refill) - refill
if debt > 0 then
  redis.call('PEXPIRE', key, debt)
else
  redis.call('DEL', key)
end
return 1
`,
  read: (reply) => (reply === 1 ? true : undefined),
};

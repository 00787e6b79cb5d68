import type { Script } from "../script.ts";
import { READ_BUCKET } from "./take-token.ts";

/** Undoes one take. */
export const GIVE_BACK_TOKEN: Script<true> = {
  name: "give_back_token",
  text: `-- give_back_token: puts one token back, never above the capacity.
-- KEYS[1]  the bucket: microseconds since 1970 as decimal text
-- ARGV[1]  capacity, tokens >= 1
-- ARGV[2]  refill, milliseconds a token
-- ARGV[3]  margin, milliseconds that the key outlives the refill
-- Returns  1
-- A bucket that is full has no key.
${READ_BUCKET}
local refill = tonumber(ARGV[2]) * 1000
local now = now_micros()
local debt = read_debt(KEYS[1], now, tonumber(ARGV[1]) * refill) - refill
if debt > 0 then
  write_debt(KEYS[1], now, debt, tonumber(ARGV[3]))
else
  redis.call('DEL', KEYS[1])
end
return 1
`,
  read: (reply) => (reply === 1 ? true : undefined),
};

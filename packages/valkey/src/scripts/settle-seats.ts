import type { Script } from "../script.ts";
import { GATE_STATE } from "./gate-state.ts";

/** Ends a lease. */
export const SETTLE_SEATS: Script<boolean> = {
  name: "settle_seats",
  text: `-- settle_seats: ends a lease. Safe to run twice.
-- KEYS[1..3]  state, leases, sold (one hash tag)
-- ARGV[1]  jti
-- ARGV[2]  seats that the jti bought, by whichever attempt: all else that its lease counted off comes back, and it
--          is a buyer; 0: it bought nothing
-- ARGV[3]  milliseconds that the keys are kept
-- Returns  1 when something changed, 0 when not
${GATE_STATE}
local jti, sold = ARGV[1], tonumber(ARGV[2])
local state = read_state()
local held = redis.call('HGET', LEASES, jti)
if held then
  -- Before the set grows: a full server lets a script that has begun finish.
  redis.call('HDEL', LEASES, jti)
end

local news = sold > 0 and redis.call('SADD', SOLD, jti) == 1
if not held and not news then
  keep_if_due(ARGV[3])
  return 0
end
if held and state.left then
  local quantity = lease_of(held)
  if quantity then
    set_left(state, state.left - state.owed + quantity - sold)
  else
    state.left = nil
  end
end
save_state(state, ARGV[3])
return 1
`,
  read: (reply) => (reply === 1 || reply === 0 ? reply === 1 : undefined),
};

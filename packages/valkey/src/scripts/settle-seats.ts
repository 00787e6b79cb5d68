import type { Script } from "../script.ts";
import { GATE_STATE } from "./gate-state.ts";

/** Ends a lease. */
export const SETTLE_SEATS: Script<boolean> = {
  name: "settle_seats",
  text: `-- settle_seats: ends a lease. Safe to run twice.
-- KEYS[1..3]  state, leases, sold (one hash tag)
-- ARGV[1]  jti
-- ARGV[2]  1 sold (its seats stay counted off, the jti is a buyer), 0 not sold (its seats come back)
-- ARGV[3]  milliseconds that the keys are kept
-- Returns  1 when something changed, 0 when not
${GATE_STATE}
local jti = ARGV[1]
local state = read_state()
local held = redis.call('HGET', LEASES, jti)
if held then
  -- Before the set grows: a full server lets a script that has begun finish.
  redis.call('HDEL', LEASES, jti)
end

if ARGV[2] == '1' then
  if redis.call('SADD', SOLD, jti) == 0 and not held then
    keep_if_due(ARGV[3])
    return 0
  end
elseif not held then
  keep_if_due(ARGV[3])
  return 0
elseif state.left then
  local quantity = lease_of(held)
  local paid = math.min(quantity or 0, state.owed)
  state.owed = state.owed - paid
  state.left = quantity and state.left + quantity - paid
end
save_state(state, ARGV[3])
return 1
`,
  read: (reply) => (reply === 1 || reply === 0 ? reply === 1 : undefined),
};

import type { Reservation } from "../inventory-gate.ts";
import type { Script } from "../script.ts";
import { GATE_STATE } from "./gate-state.ts";

const OUTCOMES: Readonly<Record<number, Reservation>> = {
  1: { kind: "leased" },
  2: { kind: "known" },
  3: { kind: "sold-out", sure: true },
  4: { kind: "sold-out", sure: false },
  5: { kind: "unknown" },
};

/** Counts seats off under a lease, all or none. */
export const RESERVE_SEATS: Script<Reservation> = {
  name: "reserve_seats",
  text: `-- reserve_seats: counts seats off under a lease, all or none.
-- KEYS[1..3]  state, leases, sold (one hash tag)
-- ARGV[1]  jti
-- ARGV[2]  quantity; 0 is never too much, and only noted
-- ARGV[3]  milliseconds that the lease lasts
-- ARGV[4]  milliseconds that the keys are kept
-- ARGV[5]  leases that are noted while nothing is known, or that count nothing off
-- Returns  1 leased, 2 known (a buyer, or a lease that is now as good as new), 3 sold out, 4 sold out but not
--          sure, 5 unknown (leased all the same, so that a rebuild counts it in)
${GATE_STATE}
local jti, quantity = ARGV[1], tonumber(ARGV[2])
local state = read_state()
if redis.call('SISMEMBER', SOLD, jti) == 1 then
  keep_if_due(ARGV[4])
  return 2
end

local held = redis.call('HGET', LEASES, jti)
local leased = lease_of(held)
local expires_at_ms = digits(now_ms() + tonumber(ARGV[3]))
if leased then
  redis.call('HSET', LEASES, jti, digits(leased) .. ':' .. expires_at_ms)
  save_state(state, ARGV[4])
  return 2
end
if held then
  state.left = nil -- a lease that cannot be read: nobody knows what it counted off
end
if state.left and state.left < quantity then
  keep_if_due(ARGV[4])
  return state.sure and 3 or 4
end

if (state.left and quantity > 0) or redis.call('HLEN', LEASES) < tonumber(ARGV[5]) then
  -- The first write, and one that a full server refuses: it is all or nothing.
  redis.call('HSET', LEASES, jti, digits(quantity) .. ':' .. expires_at_ms)
end
state.asked = state.asked + quantity
if not state.left then
  save_state(state, ARGV[4])
  return 5
end
state.left = state.left - quantity
save_state(state, ARGV[4])
return 1
`,
  read: (reply) => (typeof reply === "number" ? OUTCOMES[reply] : undefined),
};

import type { Script } from "../script.ts";
import { GATE_STATE } from "./gate-state.ts";

/** Sets a gate right, unless it moved meanwhile. */
export const REPAIR_GATE: Script<boolean> = {
  name: "repair_gate",
  text: `-- repair_gate: sets the counter and ends leases, as far as the gate did not move on from a version.
-- KEYS[1..3]  state, leases, sold (one hash tag)
-- ARGV[1]  version
-- ARGV[2]  seats left, below 0 when leases are for more than there is, by a look at the gate and a later one at what was sold
-- ARGV[3]  1 when every buyer is known from now on, 0 when not; of a gate that moved it is not believed
-- ARGV[4]  milliseconds that the keys are kept
-- ARGV[5]  how many jti follow whose leases are dropped; the rest are buyers
-- ARGV[6..]  jti
-- Returns  1 done, 0 the gate moved
-- A gate that moved is left alone, with two exceptions, or it could never be set right while a crowd is at it: its
-- counter is unknown, or surely too high (above what was left and everything that could come back). Then all
-- that was asked for since the look is taken off: at most too little is left, until the next repair. And it is not
-- sure: with too little left nobody sees in the counter who bought past the gate meanwhile.
${GATE_STATE}
local state = read_state()
local born, moves, repairs, asked, leased = string.match(ARGV[1], '^(%d+%-%d+)%.(%d+)%.(%d+)%.(%d+)%.(%d+)$')
if born ~= state.born or whole(repairs) ~= state.repairs then
  return 0
end
local left = tonumber(ARGV[2])
local moved = whole(moves) ~= state.moves
if moved and state.left and state.left <= left + whole(leased) then
  return 0
end

local dropped_last = 5 + tonumber(ARGV[5])
for index = 6, #ARGV do
  if index > dropped_last then
    redis.call('HDEL', LEASES, ARGV[index])
    redis.call('SADD', SOLD, ARGV[index])
  elseif not moved then
    redis.call('HDEL', LEASES, ARGV[index])
  else
    -- Its holder may have come back since: it keeps its seats for now.
    left = left - (lease_of(redis.call('HGET', LEASES, ARGV[index])) or 0)
  end
end
if moved then
  left = left - (state.asked - whole(asked))
end
state.sure = ARGV[3] == '1' and not moved
set_left(state, left)
state.repairs = state.repairs + 1
save_state(state, ARGV[4])
return 1
`,
  read: (reply) => (reply === 1 || reply === 0 ? reply === 1 : undefined),
};

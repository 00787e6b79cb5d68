import type { Script } from "../script.ts";
import { GATE_STATE } from "./gate-state.ts";

/** Sets a gate right, unless it moved meanwhile. */
export const REPAIR_GATE: Script<boolean> = {
  name: "repair_gate",
  text: `-- repair_gate: sets the counter and ends leases, unless the gate moved on from a version.
-- KEYS[1..3]  state, leases, sold (one hash tag)
-- ARGV[1]  version
-- ARGV[2]  seats left >= 0
-- ARGV[3]  1 when buyers may be unknown from now on, 0 when nothing speaks for that
-- ARGV[4]  milliseconds that the keys are kept
-- ARGV[5]  how many jti follow whose leases are dropped; the rest are buyers
-- ARGV[6..]  jti
-- Returns  1 done, 0 the gate moved
${GATE_STATE}
local state = read_state()
if version_of(state) ~= ARGV[1] then
  return 0
end
local dropped_last = 5 + tonumber(ARGV[5])
for index = 6, #ARGV do
  redis.call('HDEL', LEASES, ARGV[index])
  if index > dropped_last then
    redis.call('SADD', SOLD, ARGV[index])
  end
end
-- A counter made anew for a sale in which nobody bought yet is sure; one that is there stays as sure as it was.
state.sure = ARGV[3] ~= '1' and (state.sure or not state.left)
state.left = tonumber(ARGV[2])
save_state(state, ARGV[4])
return 1
`,
  read: (reply) => (reply === 1 || reply === 0 ? reply === 1 : undefined),
};

import type { Script } from "../script.ts";
import { GATE_STATE } from "./gate-state.ts";

/** Notes that somebody bought. */
export const REMEMBER_BUYER: Script<boolean> = {
  name: "remember_buyer",
  text: `-- remember_buyer: notes that a jti bought. Its lease, if any, and the counter stay as they are.
-- KEYS[1..3]  state, leases, sold (one hash tag)
-- ARGV[1]  jti
-- ARGV[2]  milliseconds that the keys are kept
-- Returns  1 when it is new, 0 when not
${GATE_STATE}
local state = read_state()
if redis.call('SADD', SOLD, ARGV[1]) == 0 then
  keep_if_due(ARGV[2])
  return 0
end
save_state(state, ARGV[2])
return 1
`,
  read: (reply) => (reply === 1 || reply === 0 ? reply === 1 : undefined),
};

import type { GateState, Lease } from "../inventory-gate.ts";
import { isWhole, type Script } from "../script.ts";
import { GATE_STATE } from "./gate-state.ts";

/** One moment of a gate. */
export const INSPECT_GATE: Script<GateState> = {
  name: "inspect_gate",
  text: `-- inspect_gate: one moment of a gate.
-- KEYS[1..3]  state, leases, sold (one hash tag)
-- ARGV[1]  milliseconds that the keys are kept
-- Returns  {life (born.repairs), version (born.moves.repairs.asked.seats under a lease), known 1 or 0, left, sure 1 or 0, buyers, {jti, quantity, expired 1 or 0, jti, ...}}
-- A gate that was never used gets a version, so that a repair can tell whether it moved.
${GATE_STATE}
local state = read_state()
if state.new then
  save_state(state, ARGV[1])
end
local now = now_ms()
local leases, leased = {}, 0
local held = redis.call('HGETALL', LEASES)
for index = 1, #held, 2 do
  local quantity, expires_at_ms = lease_of(held[index + 1])
  leases[#leases + 1] = held[index]
  leases[#leases + 1] = quantity or 0
  leased = leased + (quantity or 0)
  leases[#leases + 1] = (expires_at_ms and expires_at_ms > now) and 0 or 1
end
local version = state.born .. '.' .. digits(state.moves) .. '.' .. digits(state.repairs)
  .. '.' .. digits(state.asked) .. '.' .. digits(leased)
local life = state.born .. '.' .. digits(state.repairs)
return {life, version, state.left and 1 or 0, (state.left or 0) - (state.left and state.owed or 0), state.sure and 1 or 0, redis.call('SCARD', SOLD), leases}
`,
  read: (reply) => {
    if (!Array.isArray(reply) || reply.length !== 7) return undefined;
    const [life, version, known, left, sure, buyers, flat] = reply as unknown[];
    if (typeof life !== "string" || typeof version !== "string") return undefined;
    if (!isWhole(left) || (known !== 0 && known !== 1)) return undefined;
    if ((sure !== 0 && sure !== 1) || !isWhole(buyers) || buyers < 0) return undefined;
    const leases = readLeases(flat);
    if (leases === undefined) return undefined;
    return {
      left: known === 1 ? left : undefined,
      sure: sure === 1,
      buyers,
      leases,
      version,
      life,
    };
  },
};

function readLeases(flat: unknown): readonly Lease[] | undefined {
  if (!Array.isArray(flat) || flat.length % 3 !== 0) return undefined;
  const leases: Lease[] = [];
  for (let index = 0; index < flat.length; index += 3) {
    const [jti, quantity, expired] = flat.slice(index, index + 3) as unknown[];
    if (typeof jti !== "string" || !isWhole(quantity)) return undefined;
    if (expired !== 0 && expired !== 1) return undefined;
    leases.push({ jti, quantity, expired: expired === 1 });
  }
  return leases;
}

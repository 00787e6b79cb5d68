/**
 * What the gate's scripts share. One sku of one event is three keys with one hash tag:
 *
 * - `…:state`, a hash: `left` (seats, absent when not known), `owed` (seats that leases have beyond those: the first
 *   that come back), `leases` and `sold` (how many there must be in the
 *   other two keys), `sure` (whether every buyer is remembered), and what versions are made of: `born`, `moves` (how often
 *   anything changed), `repairs`, `asked` (seats that leases were ever noted for);
 * - `…:leases`, a hash: jti → `quantity:expiresAtMs`;
 * - `…:sold`, a set: the jti that bought.
 *
 * A server that evicts takes keys one by one: the counts show that one of the other two was lost, and the
 * gate knows no more than it has; one that lost buyers begins another life. A key of another type is removed.
 */
export const GATE_STATE = `
local STATE, LEASES, SOLD = KEYS[1], KEYS[2], KEYS[3]

local function whole(text)
  if type(text) == 'string' and #text <= 15 and string.find(text, '^%d+$') then
    return tonumber(text)
  end
  return nil
end

local function digits(number)
  return string.format('%.0f', number)
end

local function now_ms()
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end

local function lease_of(text)
  if type(text) ~= 'string' then
    return nil, nil
  end
  local quantity, expires_at_ms = string.match(text, '^(%d+):(%d+)$')
  return whole(quantity), whole(expires_at_ms)
end

local function remove_other_type(key, kind)
  local held = redis.call('TYPE', key)
  if held.ok ~= kind and held.ok ~= 'none' then
    redis.call('UNLINK', key)
  end
end

local function read_state()
  remove_other_type(STATE, 'hash')
  remove_other_type(LEASES, 'hash')
  remove_other_type(SOLD, 'set')
  local held = redis.call('HMGET', STATE, 'left', 'leases', 'sold', 'sure', 'born', 'moves', 'repairs', 'asked', 'owed')
  local state = {
    left = whole(held[1]), sure = held[4] == '1', born = held[5],
    moves = whole(held[6]), repairs = whole(held[7]), asked = whole(held[8]), owed = whole(held[9])
  }
  if not state.owed or whole(held[2]) ~= redis.call('HLEN', LEASES) then
    state.left = nil
  end
  local remembers = (whole(held[3]) or 0) == redis.call('SCARD', SOLD)
  if state.left == nil or not remembers then
    state.sure = false
  end
  if not remembers or not state.born or not string.find(state.born, '^%d+%-%d+$')
    or not state.moves or not state.repairs or not state.asked then
    -- The time of its birth: after a flush no version comes back.
    local time = redis.call('TIME')
    state.born = time[1] .. '-' .. time[2]
    state.moves, state.repairs, state.asked = 0, 0, 0
    state.new = true
  end
  return state
end

local function set_left(state, left)
  state.left, state.owed = math.max(0, left), math.max(0, -left)
end

local function save_version(state)
  redis.call('HSET', STATE, 'born', state.born, 'moves', digits(state.moves),
    'repairs', digits(state.repairs), 'asked', digits(state.asked))
end

local function keep(ms)
  redis.call('PEXPIRE', STATE, ms)
  redis.call('PEXPIRE', LEASES, ms)
  redis.call('PEXPIRE', SOLD, ms)
end

local function keep_if_due(ms)
  if redis.call('PTTL', STATE) < tonumber(ms) / 2 then
    keep(ms)
  end
end

local function save_state(state, keep_ms)
  state.moves = state.moves + 1
  if state.left then
    redis.call('HSET', STATE, 'left', digits(state.left), 'owed', digits(state.owed))
  else
    redis.call('HDEL', STATE, 'left')
  end
  redis.call('HSET', STATE,
    'leases', redis.call('HLEN', LEASES), 'sold', redis.call('SCARD', SOLD),
    'sure', state.sure and 1 or 0)
  save_version(state)
  keep(keep_ms)
end
`;

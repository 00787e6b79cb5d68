import type { Script } from "../script.ts";
import { wholeNumbers } from "../script.ts";
import type { Taken } from "../token-bucket.ts";

/** Milliseconds that a key outlives its bucket's refill: nothing depends on it. */
export const BUCKET_MARGIN_MS = 1_000;

/**
 * How both bucket scripts read their key. Two traps of Lua: `tonumber` believes "inf", "nan" and "0x10", and
 * `tostring` keeps 14 digits of the 16 that microseconds need.
 */
export const READ_BUCKET = `
local function now_micros()
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000000 + tonumber(time[2])
end

-- Microseconds until the bucket is full (0 for a key that holds no bucket), and whether that had to be cut.
local function read_debt(key, now, whole)
  local held = redis.pcall('GET', key)
  if type(held) ~= 'string' or #held > 16 or not string.find(held, '^%d+$') then
    return 0, false
  end
  local debt = math.max(0, tonumber(held) - now)
  return math.min(debt, whole), debt > whole
end

local function write_debt(key, now, debt, margin_ms)
  redis.call('SET', key, string.format('%.0f', now + debt), 'PX', string.format('%.0f', math.ceil(debt / 1000) + margin_ms))
end
`;

/** Refills and takes one token, by the server's own clock. */
export const TAKE_TOKEN: Script<Taken> = {
  name: "take_token",
  text: `-- take_token: refills a bucket and takes one token (GCRA: what is stored is when it will be full).
-- KEYS[1]  the bucket: microseconds since 1970 as decimal text
-- ARGV[1]  capacity, tokens >= 1
-- ARGV[2]  refill, milliseconds a token
-- ARGV[3]  margin, milliseconds that the key outlives the refill
-- Returns  {allowed 1 or 0, tokens left, ms until the next token (0 when allowed), ms until full}
-- A refusal writes nothing, except to heal: a key without (or with too long an) expiry, or a debt that is
-- larger than an empty bucket's (the clock was set back, or the policy changed).
${READ_BUCKET}
local capacity = tonumber(ARGV[1])
local refill = tonumber(ARGV[2]) * 1000
local margin_ms = tonumber(ARGV[3])
local whole = capacity * refill
local now = now_micros()
local debt, cut = read_debt(KEYS[1], now, whole)

if debt + refill > whole then
  if cut then
    write_debt(KEYS[1], now, debt, margin_ms)
  else
    local expiry_ms = math.ceil(debt / 1000) + margin_ms
    local ttl_ms = redis.call('PTTL', KEYS[1])
    -- One ms of slack: PTTL and TIME round differently.
    if ttl_ms < 0 or ttl_ms > expiry_ms + 1 then
      redis.call('PEXPIRE', KEYS[1], string.format('%.0f', expiry_ms))
    end
  end
  return {0, 0, math.ceil((debt + refill - whole) / 1000), math.ceil(debt / 1000)}
end

local owed = debt + refill
write_debt(KEYS[1], now, owed, margin_ms)
return {1, math.floor((whole - owed) / refill), 0, math.ceil(owed / 1000)}
`,
  read: (reply) => {
    const [allowed, remaining, retryAfterMs, fullAfterMs] = wholeNumbers(reply, 4) ?? [];
    if (remaining === undefined || retryAfterMs === undefined || fullAfterMs === undefined) {
      return undefined;
    }
    if (remaining < 0 || retryAfterMs < 0 || fullAfterMs < 1) return undefined;
    if (allowed === 1 && retryAfterMs === 0) {
      return { allowed: true, remaining, retryAfterMs, fullAfterMs };
    }
    // Never "allowed" by anything but the flag itself (case RL-05).
    if (allowed === 0 && retryAfterMs >= 1 && remaining === 0) {
      return { allowed: false, remaining, retryAfterMs, fullAfterMs };
    }
    return undefined;
  },
};

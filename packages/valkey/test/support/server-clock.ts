/** A real server's clock cannot be moved; what it stores can: time that goes by for it is time taken off that. */
import type { LocalValkey } from "@vestibule/testkit/valkey-server";

const PASS_BUCKETS = `
for _, key in ipairs(redis.call('KEYS', 'vst:bucket:*')) do
  local debt = redis.call('PTTL', key)
  if debt >= 0 and debt <= tonumber(ARGV[1]) then
    redis.call('DEL', key)
  elseif debt >= 0 then
    redis.call('PEXPIRE', key, debt - ARGV[1])
  end
end
return 1`;

const PASS_LEASES = `
for _, key in ipairs(redis.call('KEYS', 'vst:gate:*:leases')) do
  local held = redis.call('HGETALL', key)
  for index = 1, #held, 2 do
    local quantity, at = string.match(held[index + 1], '^(%d+):(%d+)$')
    redis.call('HSET', key, held[index], quantity .. ':' .. string.format('%.0f', at - ARGV[1]))
  end
end
return 1`;

export async function passForBuckets(server: LocalValkey, ms: number): Promise<void> {
  await server.command("EVAL", PASS_BUCKETS, "0", String(ms));
}

export async function passForLeases(server: LocalValkey, ms: number): Promise<void> {
  await server.command("EVAL", PASS_LEASES, "0", String(ms));
}

/** Sum of the commands that the server carried out so far, by name: `evalsha`, `eval`. */
export async function callsOf(server: LocalValkey, command: string): Promise<number> {
  const stats = String(await server.command("INFO", "commandstats"));
  return Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(stats)?.[1] ?? 0);
}

export async function usedMemory(server: LocalValkey): Promise<number> {
  const memory = String(await server.command("INFO", "memory"));
  return Number(/used_memory:(\d+)/.exec(memory)?.[1]);
}

/** A real server's clock cannot be moved; what it stores can: time that goes by for it is time taken off that. */
import type { LocalValkey } from "@vestibule/testkit/local-valkey";

const PASS_BUCKETS = `
for _, key in ipairs(redis.call('KEYS', 'vst:bucket:*')) do
  local ttl = redis.call('PTTL', key) - tonumber(ARGV[1])
  if ttl <= 0 then
    redis.call('DEL', key)
  else
    redis.call('SET', key, string.format('%.0f', redis.call('GET', key) - ARGV[1] * 1000), 'PX', ttl)
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

/** Microseconds since 1970, by the server. */
export async function serverMicros(server: LocalValkey): Promise<number> {
  const time = await server.command("TIME");
  if (!Array.isArray(time)) throw new Error("TIME is two numbers");
  return Number(time[0]) * 1_000_000 + Number(time[1]);
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

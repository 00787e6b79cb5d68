/** Passing without a place (ADR 18), from the command line to what the origin sees. */
import { REVOCATION_SECONDS_MAX } from "@vestibule/contracts/limits";
import { describe, expect, test } from "vitest";

import { runCli } from "../support/cli.ts";
import { eventually } from "../support/eventually.ts";
import { PASSING, type ProxyWorld, type Request, saying } from "../support/proxy-world.ts";
import { statusOf, valueOf } from "../support/wire.ts";

const OK = saying("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");

/** What the origin got of a stranger's request: its first line; or our status. */
async function ask(world: ProxyWorld, request: Request): Promise<string | number> {
  const { seen, got } = await world.exchange({ isStranger: true, ...request }, OK);
  if (seen !== undefined) expect(valueOf(seen, "vestibule-service")).toBeUndefined();
  return seen?.start ?? statusOf(got);
}

export function passes(world: () => ProxyWorld): void {
  describe("passing without a place", () => {
    test("a token of the command line passes a payment callback while all else stays shut; out of the rule, it stops in the stated time", async () => {
      const { system } = world();
      const made = await runCli(system, "service-token", PASSING.event, "payments");
      expect([made.code, made.err.replaceAll("\n", " ")]).toEqual([
        0,
        expect.stringContaining("opens what 1 rule"),
      ]);
      const token = made.out.trim();
      const callback = (path: string, method = "POST") =>
        ask(world(), {
          start: `${method} ${path}?vestibule-service=${token}&order=%20a`,
          body: "x",
        });
      const shown = (value: string) =>
        ask(world(), { start: "POST /q/hook", body: "x", fields: [`Vestibule-Service: ${value}`] });

      expect(await callback("/q/hook")).toBe("POST /q/hook?order=%20a HTTP/1.1");
      expect(await shown(token)).toBe("POST /q/hook HTTP/1.1");
      for (const shut of ["/q", "/q/hook/", "/q/Hook", "/q//hook", "/q/x/../probe", "/q/%68ook%20"])
        expect(await callback(shut), `POST ${shut}`).toBeTypeOf("number");
      expect(await callback("/q/hook", "PUT")).toBe(429);
      // A signature of zeros: another last character may be another text of the same one.
      expect(await shown(token.replace(/[^.]*$/, "A".repeat(86)))).toBe(429);
      expect(await ask(world(), { start: "POST /q/hook", body: "x" })).toBe(429);

      const rules = JSON.stringify(PASSING.bypass.slice(1));
      const changed = await runCli(
        system,
        "events",
        "change",
        PASSING.event,
        "--bypass",
        rules,
        "--yes",
      );
      expect([changed.code, changed.out]).toEqual([
        0,
        expect.stringContaining("token of payments"),
      ]);
      const stopped = async () => (await callback("/q/hook")) === 429;
      await eventually("it stops", stopped, { withinMs: REVOCATION_SECONDS_MAX * 1_000 });
      const { out } = await runCli(system, "events", "show", PASSING.event);
      expect(out).toContain("whoever comes from 192.0.2.0/24");
    });

    test("a network passes by the one address that the network says, and not by two of them", async () => {
      const from = (...fields: string[]) => ask(world(), { start: "GET /q/probe", fields });
      expect(await from("CF-Connecting-IP: 192.0.2.7")).toBe("GET /q/probe HTTP/1.1");
      const lies = [
        ["CF-Connecting-IP: 192.0.2.7", "CF-Connecting-IP: 192.0.2.7"],
        ["CF-Connecting-IP: 198.51.100.1", "CF-Connecting-IP: 192.0.2.7"],
        [
          "CF-Connecting-IP: 198.51.100.1",
          "X-Forwarded-For: 192.0.2.7",
          "True-Client-IP: 192.0.2.7",
        ],
        ["X-Forwarded-For: 192.0.2.7"],
      ];
      for (const fields of lies) expect(await from(...fields), `with ${fields.join()}`).toBe(429);
      const health = await (await fetch(`http://${world().host}/_vestibule/health`)).json();
      expect(health).toMatchObject({ trustsClientAddress: true });
      expect(JSON.stringify(health)).toMatch(new RegExp(`"${PASSING.event}":\\[`));
    });
  });
}

/** What another site makes a visitor's browser send does nothing. */
import { expect, test } from "vitest";

import { type StrangersWorld, Visitor, askPlainly } from "./world.ts";

const VERBS = ["tickets", "admissions", "purchases", "leave"] as const;
const TYPES = [
  undefined,
  "application/x-www-form-urlencoded",
  "text/plain",
  "multipart/form-data; boundary=x",
  "application/json",
] as const;
const SITES = [undefined, "cross-site", "same-site", "none", "same-origin"] as const;

const numberOf = ({ text }: { readonly text: string }): number =>
  (JSON.parse(text) as { number: number }).number;

export function forgery(of: () => StrangersWorld): void {
  test("a POST acts by cookies only when it comes from a page of the event: every site, origin and type that a browser may say", async () => {
    const { cache, edge, site } = of();
    const victim = new Visitor(cache.port);
    await victim.ask({ path: "/events/held" });
    await victim.call("held", "tickets");
    const place = await victim.call("held", "me", "GET");
    const origins = [
      ...[undefined, "null", "http://evil.example", site],
      ...[site.replace("http:", "https:"), `http://127.0.0.1:${cache.port + 1}`, `${site}.evil`],
    ];
    const wrong: unknown[] = [];
    for (const verb of VERBS) {
      for (const from of SITES) {
        for (const origin of origins) {
          for (const type of TYPES) {
            const reply = await askPlainly(cache.port, {
              method: "POST",
              path: `/_vestibule/events/held/${verb}`,
              headers: {
                Cookie: victim.cookie,
                ...(from === undefined ? {} : { "Sec-Fetch-Site": from }),
                ...(origin === undefined ? {} : { Origin: origin }),
                ...(type === undefined ? {} : { "Content-Type": type }),
              },
              body: type === "application/json" ? "{}" : "return=/",
            });
            const isOurs = origin === site || (origin === undefined && from === "same-origin");
            // No browser of today: and no page can make one of yesterday send JSON elsewhere unasked.
            const isTool =
              origin === undefined && from === undefined && type === "application/json";
            const isRefused = reply.status === 403 && reply.text.includes("cross-site");
            if (isRefused === (isOurs || isTool)) wrong.push({ verb, from, origin, type, reply });
            if (isRefused && reply.cookies.length > 0) wrong.push({ verb, cookies: reply.cookies });
          }
        }
      }
      for (const method of ["GET", "HEAD", "PUT", "PATCH", "PROPFIND"]) {
        const path = `/_vestibule/events/held/${verb}`;
        const reply = await askPlainly(edge.port, {
          method,
          path,
          headers: { Cookie: victim.cookie },
        });
        if (reply.status !== 405 || reply.cookies.length > 0) wrong.push({ verb, method, reply });
      }
    }
    expect(wrong).toEqual([]);
    const after = await victim.call("held", "me", "GET");
    expect(numberOf(after)).toBe(numberOf(place));
  });
}

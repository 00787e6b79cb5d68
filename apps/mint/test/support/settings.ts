import type { EventSettings } from "@vestibule/contracts/event-settings";
import { eventSettingsSchema } from "@vestibule/contracts/event-settings";
import * as z from "zod/mini";

/** 2100-01-01: the end of every test's event, unless a test says otherwise. */
const FAR = 4_102_444_800_000;

export function settings(change: Partial<EventSettings> = {}): EventSettings {
  return z.parse(eventSettingsSchema, {
    event: "spring",
    title: "Spring",
    ratePerMinute: 60,
    endsAt: FAR,
    hosts: ["tickets.example"],
    paths: ["/spring*"],
    homePath: "/spring",
    ...change,
  });
}

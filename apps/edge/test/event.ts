import type { ManifestEvent } from "@vestibule/contracts/statements";
import { epochMs } from "@vestibule/kernel/units";

export const NOW = epochMs(1_800_000_000_000);
export const LIFETIME_SECONDS = 600;

export const EVENT: ManifestEvent = {
  event: "demo",
  title: "Spring concert",
  hosts: ["shop.example", "www.shop.example"],
  paths: ["/events/demo*"],
  bypass: [{ paths: ["/events/demo/logo.svg"], methods: ["GET"] }],
  homePath: "/events/demo",
  lifetimeSeconds: LIFETIME_SECONDS,
  claimWindowSeconds: 180,
  holdingStatus: 200,
  accent: "#0b6e4f",
  endsAt: NOW + 86_400_000,
};

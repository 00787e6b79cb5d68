/** One guard for the process. */
import { createGuard } from "@vestibule/guard";

const { MINT_URLS, ISSUER, EVENT, PURCHASE_URL } = process.env;

export const guard = createGuard({
  mintUrls: MINT_URLS.split(","),
  issuer: ISSUER,
  event: EVENT,
  purchaseUrl: PURCHASE_URL,
  onAlarm: (alarm) => console.warn("mint", alarm),
});

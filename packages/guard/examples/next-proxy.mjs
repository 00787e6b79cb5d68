/** `proxy.js` (before Next.js 16: `middleware.js`): pages below /shop are for the admitted only. */
import { requireAdmission } from "@vestibule/guard/next";
import { guard } from "./guard.mjs";

export const proxy = requireAdmission(guard);
export const config = { matcher: "/shop/:path*" };

/** `app/checkout/route.js` of a Next.js app with a checkout of its own behind Vestibule. */
import { withAdmission } from "@vestibule/guard/next";
import { guard } from "./guard.mjs";
import { sell } from "./sell.mjs";

export const POST = withAdmission(guard, async (request, context, admission) => {
  const wanted = await request.json().catch(() => undefined);
  const { status, headers, body } = await sell(admission, wanted);
  return Response.json(body, { status, headers });
});

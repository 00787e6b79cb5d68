/** `app/checkout/route.js` of a Next.js app with a checkout of its own behind Vestibule. */
import { withAdmission } from "@vestibule/guard/next";
import { guard } from "./guard.mjs";
import { sell } from "./sell.mjs";

export const POST = withAdmission(guard, async (request, context, admission) => {
  const { status, headers, body } = await sell(admission, await request.json());
  return Response.json(body, { status, headers });
});

/** A checkout of one's own behind Vestibule, on Fastify 5. */
import { admissionOf, requireAdmission } from "@vestibule/guard/fastify";
import Fastify from "fastify";
import { guard } from "./guard.mjs";
import { sell } from "./sell.mjs";

const app = Fastify();
app.post("/checkout", { onRequest: requireAdmission(guard) }, async (request, reply) => {
  const { status, headers = {}, body } = await sell(admissionOf(request), request.body);
  return reply.code(status).headers(headers).send(body);
});

const url = await app.listen({ port: Number(process.env.PORT), host: "127.0.0.1" });
console.log(`${url}/checkout`);

/** A checkout of one's own behind Vestibule, on Express 5 (or 4). */
import { admissionOf, requireAdmission } from "@vestibule/guard/express";
import express from "express";
import { guard } from "./guard.mjs";
import { sell } from "./sell.mjs";

const app = express();
app.post("/checkout", requireAdmission(guard), express.json(), (req, res, next) => {
  const answer = ({ status, headers = {}, body }) => res.status(status).set(headers).json(body);
  sell(admissionOf(req), req.body).then(answer).catch(next);
});
app.use((error, _req, res, _next) => {
  res
    .status(error.status ?? 500)
    .json({ message: "This cannot be read, or something went wrong." });
});

const server = app.listen(Number(process.env.PORT), "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${server.address().port}/checkout`);
});

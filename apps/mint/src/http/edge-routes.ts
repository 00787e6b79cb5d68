/** Clocks of the locations: the question that each asks, and what an operator is shown. Only a leader answers. */
import {
  type ClockAnswer,
  clockReportSchema,
  type EdgesView,
  locationSchema,
} from "@vestibule/contracts/edges-api";
import { parse } from "@vestibule/contracts/parse";
import { AppError } from "@vestibule/kernel/app-error";
import { noStore, type ServiceApp, type ServiceContext } from "@vestibule/service/app";
import { addressOfRequest } from "@vestibule/service/client-address";
import { readJson } from "@vestibule/service/json-body";
import { httpProblem } from "@vestibule/service/problems";
import * as z from "zod/mini";
import type { Question } from "../edges/clock-desk.ts";
import type { Edges } from "../edges/edges.ts";
import { CLOCK_QUESTION_BYTES_MAX } from "../limits.ts";
import type { Mint } from "../mint.ts";
import { refusedSettings } from "./refused-settings.ts";

export interface EdgeRoutes {
  readonly mint: Mint;
  readonly edges: Edges;
  readonly trustProxyHops: number;
}

/** The bearer token of `/v1/admin/` has been looked at before. */
export function addEdgeRoutes(app: ServiceApp, { mint, edges, trustProxyHops }: EdgeRoutes): void {
  const { desk, table, own, moment, nameOf } = edges;

  app.post("/v1/edges/:location/clock", async (context) => {
    try {
      const sender = nameOf(addressOfRequest(context.env.incoming, trustProxyHops));
      await desk.admit(sender);
      const question = await readQuestion(context);
      const term = mint.leading();
      // Of rules that there are: anybody may report, and names of labels are not theirs to make.
      const passes = question.report.passes?.filter(
        ({ event, rule }) => rule < (term.entry(event)?.line.record.settings.bypass.length ?? 0),
      );
      const report = { ...question.report, passes };
      const time = await desk.answer({ ...question, report, sender });
      const answer: ClockAnswer = { time, takes: ["passes"] };
      return noStore(context, 200, answer);
    } catch (error) {
      // Not through the app: it writes a line for every 503, and anybody may ask here.
      if (error instanceof AppError && error.code === "unavailable")
        return unlogged(context, error);
      throw error;
    }
  });

  app.get("/v1/admin/edges", (context) => {
    mint.leading();
    const { now, monotonicMs } = moment();
    const { state, estimate } = own;
    const view: EdgesView = {
      now,
      mint: { state, ...(estimate === undefined ? {} : { estimate }) },
      edges: [...table.shown(monotonicMs)],
      turnedAway: table.turnedAway,
    };
    return noStore(context, 200, view);
  });
}

/** @throws AppError `invalid-settings` with every mistake of path and body; those of `readJson`. */
async function readQuestion(context: ServiceContext): Promise<Omit<Question, "sender">> {
  const body = await readJson(context.req.raw, z.unknown(), { bytesMax: CLOCK_QUESTION_BYTES_MAX });
  const location = parse(locationSchema, context.req.param("location"));
  const report = parse(clockReportSchema, body);
  if (location.ok && report.ok) return { location: location.value, report: report.value };
  throw refusedSettings([
    ...(location.ok ? [] : location.refusal.map((mistake) => ({ ...mistake, field: "location" }))),
    ...(report.ok ? [] : report.refusal),
  ]);
}

function unlogged(context: ServiceContext, error: AppError): Response {
  const { status, headers, body } = httpProblem(error);
  return context.body(body, status as 503, { ...headers });
}

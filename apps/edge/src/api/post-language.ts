/** `POST /_vestibule/language`: the page's language, by its own name, kept in a cookie that says nothing else. */
import { setLanguageCookie } from "../cookies.ts";
import { TAGS_BY_NAME } from "../page/languages.ts";
import { problem } from "../problem.ts";
import { isSameSite } from "../routing/cross-origin.ts";
import { safeReturnPath } from "../routing/return-path.ts";
import type { Visit } from "../visit.ts";
import { seeOther } from "./answers.ts";
import { isForm, readText } from "./form.ts";

export async function postLanguage({ edge, request, address }: Visit): Promise<Response> {
  const { origin, https } = address;
  // It acts by no cookie of ours, and does no harm: but what another site sends here, nobody has chosen.
  const fine = isSameSite(request, { origin, sites: edge.routes(), byCookie: false });
  if (!fine) return problem("cross-site");
  if (!isForm(request)) return problem("bad-request", { detail: "The body must be a form." });
  const text = await readText(request);
  if (text instanceof Response) return text;
  const fields = new URLSearchParams(text);
  const tag = TAGS_BY_NAME.get(fields.get("language") ?? "");
  if (tag === undefined) {
    const detail = `\`language\` must be one of ${[...TAGS_BY_NAME.keys()].join(", ")}.`;
    return problem("bad-request", { detail });
  }
  const response = seeOther(safeReturnPath(fields.get("return"), origin) ?? "/");
  response.headers.append("Set-Cookie", setLanguageCookie(tag, { https }));
  return response;
}

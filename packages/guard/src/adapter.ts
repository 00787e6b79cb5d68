/** What the adapters share. */
import type { AdapterOptions, Admission, CheckOptions, WebResponse } from "./types.ts";

const admissions = new WeakMap<object, Admission>();

/** Remembered beside the request, so that no framework's object has to be changed. */
export function keepAdmission(request: object, admission: Admission): void {
  admissions.set(request, admission);
}

/** @throws TypeError when the request did not come through `requireAdmission`: a route that forgot it. */
export function admissionOf(request: object): Admission {
  const admission = admissions.get(request);
  if (admission !== undefined) return admission;
  throw new TypeError("admissionOf: this request did not come through requireAdmission");
}

/** A function that finds no event refuses (an empty name is no event's): never the guard's own instead. */
export function checkOptionsFor<Request>(
  request: Request,
  { event }: AdapterOptions<Request>,
): CheckOptions {
  if (event === undefined) return {};
  const found = event(request);
  return { event: typeof found === "string" ? found : "" };
}

/** Header fields as Node's servers have them: names in lower case, repeated ones joined or listed. */
export type NodeHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** A repeated field is joined, as in a web-standard `Headers`, and so refused. */
export function headersOfNode(headers: NodeHeaders): { get(name: string): string | null } {
  return {
    get(name) {
      const value = headers[name.toLowerCase()];
      return value === undefined ? null : String(value);
    },
  };
}

interface ResponseParts {
  readonly headers: Iterable<readonly [name: string, value: string]>;
  text(): Promise<string>;
}

/** A refusal's response in parts, for frameworks that do not take a web-standard one. */
export async function partsOf(
  response: WebResponse,
): Promise<{ readonly headers: ResponseParts["headers"]; readonly body: string }> {
  const parts = response as unknown as ResponseParts;
  return { headers: parts.headers, body: await parts.text() };
}

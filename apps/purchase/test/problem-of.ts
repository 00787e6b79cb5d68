/** `409 sold-out`: status and type of a problem document; `201` for what is none. */
export async function wordOf(response: Response): Promise<string> {
  if (response.headers.get("content-type") !== "application/problem+json") {
    return String(response.status);
  }
  const { type } = (await response.clone().json()) as { type: string };
  return `${response.status} ${type.replace("urn:vestibule:problem:", "")}`;
}

/** For a location, which takes what was checked: a kind of picture that a browser only draws. */
export function isLogo(uri: string): boolean {
  return /^data:image\/(?:(?:png|webp|jpeg);base64,|svg\+xml,)/.test(uri);
}

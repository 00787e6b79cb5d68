/** The fields of the buy form, as strings that a browser sent. */
export interface BuyForm {
  readonly quantity: number;
  readonly key: string;
}

export const QUANTITY_CHOICES = [1, 2, 3, 4] as const;
export const FORM_BYTES_MAX = 2_048;

const KEY = /^[A-Za-z0-9_-]{22}$/;

/** `undefined` unless every field is what our own form sends. */
export function readBuyForm(body: string): BuyForm | undefined {
  if (body.length > FORM_BYTES_MAX) return undefined;
  const fields = new URLSearchParams(body);
  const [quantity, key] = [fields.get("quantity") ?? "", fields.get("key") ?? ""];
  if (!/^[1-4]$/.test(quantity) || !KEY.test(key)) return undefined;
  return { quantity: Number(quantity), key };
}

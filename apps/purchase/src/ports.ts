/** Told of an event in which the last piece went, something came back, or stock was set. Returns at once, never throws. */
export type SupplyWatch = (event: string) => void;

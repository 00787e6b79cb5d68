import { createHmac } from "node:crypto";

/** 48 bits, as hexadecimal digits: enough to tell a table's senders apart. */
const SENDER_CHARS = 12;

/** Addresses → names that show no address. With another key, as in every process, they are other names. */
export function senderNames(key: Uint8Array): (address: string) => string {
  return (address) =>
    createHmac("sha256", key).update(address).digest("hex").slice(0, SENDER_CHARS);
}

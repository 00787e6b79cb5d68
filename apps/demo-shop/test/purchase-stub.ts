import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";

/** A purchase API on the wire that answers what a test says, and remembers what it was asked. */
export interface PurchaseStub {
  readonly url: string;
  readonly purchases: { headers: IncomingMessage["headers"]; body: string }[];
  answer: { status: number; body: unknown } | "cut-off";
  stock: unknown;
  close(): void;
}

export const ORDER = {
  orderId: "AbCdEfGhIjKlMnOpQrStUv",
  event: "demo",
  sku: "seat",
  quantity: 2,
  number: 4_812,
  purchasedAt: 1_767_225_600_000,
};

export function problemOf(code: string, status: number): { status: number; body: unknown } {
  return { status, body: { type: `urn:vestibule:problem:${code}`, title: code, status } };
}

export async function startPurchaseStub(): Promise<PurchaseStub> {
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      if (stub.answer === "cut-off") {
        request.socket.destroy();
        return;
      }
      const isPost = request.method === "POST";
      if (isPost) stub.purchases.push({ headers: request.headers, body });
      const isStock = request.url?.endsWith("/stock") === true;
      const ownOrder =
        request.url?.endsWith(ORDER.orderId) === true &&
        request.headers["vestibule-visitor"] === "visitor-secret";
      const elsewhere = ownOrder ? { status: 200, body: ORDER } : problemOf("not-found", 404);
      const read = isStock ? { status: 200, body: stub.stock } : elsewhere;
      const { status, body: answer } = isPost ? stub.answer : read;
      response.writeHead(status, { "Content-Type": "application/json" });
      response.end(JSON.stringify(answer));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const stub: PurchaseStub = {
    url: `http://127.0.0.1:${port}`,
    purchases: [],
    answer: { status: 201, body: ORDER },
    stock: [{ sku: "seat", available: true, remaining: 128 }],
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
  return stub;
}

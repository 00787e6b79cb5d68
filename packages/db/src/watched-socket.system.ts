/**
 * A TCP connection that ends itself when the server owes an answer for too long: a network that
 * drops packets without a reset would otherwise keep a pool connection for ever (case PS-07).
 */
import { connect, type Socket } from "node:net";

const CHECK_EVERY_MS = 500;

/** What the driver reads from its socket, besides the stream. */
export type WatchedSocket = Socket & { host: string; port: number };

/**
 * Returns at once; the driver's first writes wait in the socket until it is connected.
 *
 * @param options.silentMsMax longest time between something sent and the next thing received.
 */
export function openWatchedSocket(options: {
  host: string;
  port: number;
  /** A Unix socket instead of host and port. */
  path?: string | undefined;
  silentMsMax: number;
}): WatchedSocket {
  const { host, port, path, silentMsMax } = options;
  const stream = connect(path === undefined ? { host, port, noDelay: true } : { path });
  const socket = Object.assign(stream, { host, port });
  let sent = 0;
  let received = 0;
  let owedSince: number | undefined;
  const timer = setInterval(() => {
    const now = performance.now();
    if (socket.bytesRead !== received) {
      received = socket.bytesRead;
      sent = socket.bytesWritten;
      owedSince = undefined;
      return;
    }
    if (socket.bytesWritten !== sent) {
      sent = socket.bytesWritten;
      owedSince ??= now;
    }
    if (owedSince !== undefined && now - owedSince > silentMsMax) {
      const error = new Error(`no answer from PostgreSQL for ${silentMsMax} ms`);
      socket.destroy(Object.assign(error, { code: "ETIMEDOUT" }));
    }
  }, CHECK_EVERY_MS);
  timer.unref();
  socket.once("close", () => clearInterval(timer));
  return socket;
}

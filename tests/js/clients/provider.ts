/** A provider on the loopback interface: it records each body, and answers by a script. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface Answer {
  type: "application/json" | "text/event-stream";
  body: string;
}

const SILENCE_MS = 10_000;

/**
 * The bodies that a conversation sends. A request that the script has no answer to is refused, which no client tries again that is told not
 * to.
 */
export async function recorded(steps: number, answer: (step: number, body: string) => Answer, talk: (url: string) => Promise<unknown>): Promise<string[]> {
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks).toString();
      const step = bodies.push(body) - 1;
      if (step >= steps) return response.writeHead(400, { "content-type": "application/json" }).end(`{"error":{"message":"one request too many"}}`);
      const { type, body: answered } = answer(step, body);
      return response.writeHead(200, { "content-type": type }).end(answered);
    });
  });
  server.setTimeout(SILENCE_MS);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  try {
    await talk(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
  return bodies;
}

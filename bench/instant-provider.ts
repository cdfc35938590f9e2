import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { listen } from '../infra/local/ports.ts';

/** A mail provider that takes every mail at once. */
export interface InstantProvider {
  readonly url: string;
  /** Resolves when so many mails have come since it was last asked, with the times at which they did (ms). */
  readonly taken: (count: number) => Promise<readonly number[]>;
  readonly stop: () => void;
}

export const startProvider = async (): Promise<InstantProvider> => {
  let times: number[] = [];
  let wanted = Number.POSITIVE_INFINITY;
  let enough: (taken: readonly number[]) => void = () => undefined;
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ id: randomUUID() }));
      times.push(performance.now());
      if (times.length === wanted) enough(times);
    });
  });
  const port = await listen(server, 0);
  return {
    url: `http://127.0.0.1:${port}`,
    taken: (count) =>
      new Promise((resolve) => {
        times = [];
        wanted = count;
        enough = resolve;
      }),
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
};

import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { listen } from '../infra/local/ports.ts';

/** A mail provider that accepts every email immediately. */
export interface InstantProvider {
  readonly url: string;
  /** Resolves when this many emails have arrived since the last call, with their times (ms). */
  readonly taken: (count: number) => Promise<readonly number[]>;
  readonly stop: () => void;
}

/** One id, or one per email of a batch. */
const answerTo = (body: unknown): object =>
  Array.isArray(body) ? { data: body.map(() => ({ id: randomUUID() })) } : { id: randomUUID() };

export const startProvider = async (): Promise<InstantProvider> => {
  let times: number[] = [];
  let wanted = Number.POSITIVE_INFINITY;
  let enough: (taken: readonly number[]) => void = () => undefined;
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    request.on('end', () => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answerTo(JSON.parse(text))));
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

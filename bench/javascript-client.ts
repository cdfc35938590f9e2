import autocannon from 'autocannon';
import type { Burst, LoadRequest, Target } from './load.ts';

const percentile = (sorted: readonly number[], part: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;

/** Sends requests from this process. Each is created just before it is sent, so it may depend on earlier responses. */
export const loadFromHere = (
  target: Target,
  request: LoadRequest,
  seconds: number,
  connections: number,
): Promise<Burst> =>
  new Promise((resolve, reject) => {
    const times: number[] = [];
    const begin = performance.now();
    const cpuBefore = process.cpuUsage();
    let last = begin;
    const setupRequest = (prepared: autocannon.Request): autocannon.Request => ({
      ...prepared,
      path: request.path(),
      ...(request.body ? { body: request.body() } : {}),
      ...(request.headers ? { headers: { ...prepared.headers, ...request.headers() } } : {}),
    });
    const onResponse = (_status: number, body: string): void => request.onAnswer?.(body);
    const headers = { 'content-type': 'application/json', ...target.headers };
    const instance = autocannon(
      {
        url: target.url,
        connections,
        ...(request.perSecond === undefined ? {} : { overallRate: request.perSecond }),
        ...(request.amount === undefined ? { duration: seconds } : { amount: request.amount }),
        requests: [{ method: request.method, headers, setupRequest, ...(request.onAnswer ? { onResponse } : {}) }],
      },
      (error, result) => {
        if (error) {
          reject(error);
          return;
        }
        const { user, system } = process.cpuUsage(cpuBefore);
        times.sort((a, b) => a - b);
        resolve({
          client: 'JavaScript',
          answered: result['2xx'],
          refused: result.non2xx,
          broken: result.errors,
          seconds: (last - begin) / 1000,
          p50: percentile(times, 0.5),
          p95: percentile(times, 0.95),
          cpu: user + system,
        });
      },
    );
    instance.on('response', (_client, _status, _bytes, time) => {
      times.push(time);
      last = performance.now();
    });
  });

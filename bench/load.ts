import autocannon from 'autocannon';

/** One measurement of one server: requests/s, latency in ms, CPU of the server process in µs a request. */
export interface Sample {
  readonly perSecond: number;
  readonly p50: number;
  readonly p95: number;
  readonly cpuMicros: number;
}

/** A request as the generator sends it; `path`, `body` and `headers` are asked for anew each time. */
export interface LoadRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: () => string;
  readonly body?: () => string;
  readonly headers?: () => Readonly<Record<string, string>>;
  /** Connections that send it at once, where 32 would only wait for the CPU. */
  readonly connections?: number;
  /** How many are sent, where each needs something that was made for it; as many as there is time for otherwise. */
  readonly amount?: number;
  /** Told the body of each answer. */
  readonly onAnswer?: (body: string) => void;
}

/** A server under load: where it listens, and how much CPU its process has used so far (µs). */
export interface Target {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly cpu: () => Promise<number>;
}

const connections = 32;

/** Who has not answered anything after so many seconds does not answer. */
const longest = 30;

interface Burst {
  readonly result: autocannon.Result;
  readonly seconds: number;
  /** Response times in ms, ascending. */
  readonly times: readonly number[];
}

const fire = (target: Target, request: LoadRequest, seconds: number): Promise<Burst> =>
  new Promise((resolve, reject) => {
    const times: number[] = [];
    const begin = performance.now();
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
        connections: request.connections ?? connections,
        ...(request.amount === undefined ? { duration: seconds } : { amount: request.amount }),
        requests: [{ method: request.method, headers, setupRequest, ...(request.onAnswer ? { onResponse } : {}) }],
      },
      (error, result) => {
        if (error) reject(error);
        else resolve({ result, seconds: (last - begin) / 1000, times: times.sort((a, b) => a - b) });
      },
    );
    instance.on('response', (_client, _status, _bytes, time) => {
      times.push(time);
      last = performance.now();
    });
  });

const percentile = (sorted: readonly number[], part: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;

/**
 * Loads one server with 32 connections, or as many as the request says, for some seconds or with its amount; any answer
 * but 2xx makes the measurement worthless. Who has answered nothing yet is given more time.
 */
export const measure = async (target: Target, request: LoadRequest, seconds: number): Promise<Sample> => {
  const before = await target.cpu();
  const { result, seconds: taken, times } = await fire(target, request, seconds);
  const used = (await target.cpu()) - before;
  const answered = result['2xx'];
  const onlySlow = answered === 0 && result.non2xx === 0 && result.errors === 0 && seconds < longest;
  if (onlySlow) return measure(target, request, seconds * 4);
  if (result.non2xx > 0 || result.errors > 0 || answered === 0) {
    const statuses = Object.keys(result.statusCodeStats ?? {}).join(', ');
    throw new Error(
      `${request.method} ${request.path()}: ${result.non2xx} refusals (${statuses}), ${result.errors} errors, ${answered} answers`,
    );
  }
  return {
    perSecond: answered / taken,
    p50: percentile(times, 0.5),
    p95: percentile(times, 0.95),
    cpuMicros: used / answered,
  };
};

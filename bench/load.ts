import { setTimeout as sleep } from 'node:timers/promises';
import { loadFromHere } from './javascript-client.ts';
import type { Backing } from './processes.ts';
import { hasWrk, loadFromWrk } from './wrk.ts';

/** The load generator. */
export type Client = 'wrk' | 'JavaScript';

/** CPU in µs per request. */
export interface Cpu {
  /** Of the server process; `undefined` if unknown, like the others. */
  readonly server: number | undefined;
  /** Of MongoDB. */
  readonly engine: number | undefined;
  /** Of the emulators of DynamoDB, SQS and S3. */
  readonly emulators: number | undefined;
  /** Of the load generator. */
  readonly client: number;
}

/** One measurement of one server: requests/s, latency in ms. */
export interface Sample {
  readonly client: Client;
  readonly perSecond: number;
  readonly p50: number;
  readonly p95: number;
  readonly cpu: Cpu;
}

/** A request of the generator; `path`, `body` and `headers` are called for each request. */
export interface LoadRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: () => string;
  readonly body?: () => string;
  readonly headers?: () => Readonly<Record<string, string>>;
  /** Concurrent connections, if 32 would only wait for the CPU. */
  readonly connections?: number;
  /** A fixed number of requests, if each needs prepared data; otherwise as many as there is time for. */
  readonly amount?: number;
  /** The number of different requests, if known; they are sent in turn. */
  readonly distinct?: number;
  /** Maximum requests per second; otherwise unlimited. */
  readonly perSecond?: number;
  /** Receives the body of each response. */
  readonly onAnswer?: (body: string) => void;
}

/** A server under load, and the CPU that its process has used (µs). */
export interface Target {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly cpu: () => Promise<number | undefined>;
  readonly backing: Backing | undefined;
}

/** The result of one load: responses with 2xx, with other statuses and without response; seconds, ms, and CPU in µs. */
export interface Burst {
  readonly client: Client;
  readonly answered: number;
  readonly refused: number;
  readonly broken: number;
  readonly seconds: number;
  readonly p50: number;
  readonly p95: number;
  readonly cpu: number;
}

const usual = 32;

/** A server without any response after this many seconds is considered broken. */
const longest = 30;

/** Enough time to finish the last requests, whose connections are closed. */
const settleMs = (p95: number): number => Math.min(1000, 20 + 2 * p95);

/**
 * `wrk` sends prepared requests. Requests that depend on earlier responses, or are single-use, need the JavaScript
 * client.
 */
const clientFor = ({ onAnswer, amount }: LoadRequest) =>
  hasWrk && !onAnswer && amount === undefined ? loadFromWrk : loadFromHere;

const cpuOf = async ({ cpu, backing }: Target) => ({
  server: await cpu(),
  engine: backing?.engine(),
  emulators: backing?.emulators(),
});

const difference = (after: number | undefined, before: number | undefined): number | undefined =>
  after === undefined || before === undefined ? undefined : after - before;

/**
 * Loads a server with 32 connections, or the request's own number, for some seconds or its fixed amount. Throws for any
 * response except 2xx. A server that has not responded yet gets more time.
 */
export const measure = async (target: Target, request: LoadRequest, seconds: number): Promise<Sample> => {
  const { connections = usual, amount } = request;
  const before = await cpuOf(target);
  const burst = await clientFor(request)(target, request, seconds, connections);
  const { client, answered, refused, broken, p50, p95 } = burst;
  const onlySlow = answered === 0 && refused === 0 && broken === 0 && seconds < longest;
  if (onlySlow) return measure(target, request, seconds * 4);
  if (refused > 0 || broken > 0 || answered === 0) {
    throw new Error(
      `${request.method} ${request.path()}: ${refused} refusals, ${broken} errors, ${answered} answers of ${target.url}`,
    );
  }
  await sleep(settleMs(p95));
  const after = await cpuOf(target);
  // The last request of each connection is still processed, although nobody waits for its response.
  const done = amount === undefined ? answered + connections : answered;
  const perRequest = (part: 'server' | 'engine' | 'emulators'): number | undefined => {
    const used = difference(after[part], before[part]);
    return used === undefined ? undefined : used / done;
  };
  return {
    client,
    perSecond: answered / burst.seconds,
    p50,
    p95,
    cpu: {
      server: perRequest('server'),
      engine: perRequest('engine'),
      emulators: perRequest('emulators'),
      client: burst.cpu / answered,
    },
  };
};

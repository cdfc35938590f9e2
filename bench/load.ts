import { setTimeout as sleep } from 'node:timers/promises';
import { loadFromHere } from './javascript-client.ts';
import type { Backing } from './processes.ts';
import { hasWrk, loadFromWrk } from './wrk.ts';

/** Who sends the requests. */
export type Client = 'wrk' | 'JavaScript';

/** CPU in µs a request. */
export interface Cpu {
  /** Of the process that answers; `undefined` where it cannot be told, as of the others. */
  readonly server: number | undefined;
  /** Of MongoDB. */
  readonly engine: number | undefined;
  /** Of what stands for DynamoDB, SQS and S3. */
  readonly emulators: number | undefined;
  /** Of who sends. */
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
  /** How many different ones there are, where that is known: they are sent in turn. */
  readonly distinct?: number;
  /** How many a second are sent at most; as many as are answered otherwise. */
  readonly perSecond?: number;
  /** Told the body of each answer. */
  readonly onAnswer?: (body: string) => void;
}

/** A server under load: where it listens, and how much CPU its process has used so far (µs). */
export interface Target {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly cpu: () => Promise<number | undefined>;
  readonly backing: Backing | undefined;
}

/** What came of one load: answers with 2xx, with another status, and none at all; seconds, ms, and CPU in µs. */
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

/** Who has not answered anything after so many seconds does not answer. */
const longest = 30;

/** Long enough for what was asked last to be done, whose askers have gone. */
const settleMs = (p95: number): number => Math.min(1000, 20 + 2 * p95);

/** `wrk` takes requests ready made: what depends on earlier answers, or must be sent once, takes the other client. */
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
 * Loads one server with 32 connections, or as many as the request says, for some seconds or with its amount; any answer
 * but 2xx makes the measurement worthless. Who has answered nothing yet is given more time.
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
  // Each connection's last request is dealt with, although nobody waits for its answer.
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

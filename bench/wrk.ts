import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Burst, LoadRequest, Target } from './load.ts';

const run = promisify(execFile);
const script = path.join(import.meta.dirname, 'wrk.lua');

/** True if `wrk` is installed. It needs a tenth of the CPU of a JavaScript client. */
export const hasWrk: boolean = spawnSync('wrk', ['-v']).error === undefined;

/** Maximum number and total bytes of different requests. */
const mostRequests = 10_000;
const mostBytes = 8_000_000;

/** One request as bytes. */
const wired = (target: Target, request: LoadRequest): string => {
  const body = request.body?.() ?? '';
  const headers = {
    host: new URL(target.url).host,
    'content-type': 'application/json',
    ...target.headers,
    ...request.headers?.(),
    ...(request.body && { 'content-length': String(Buffer.byteLength(body)) }),
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${request.method} ${request.path()} HTTP/1.1\r\n${lines.join('')}\r\n${body}`;
};

const made = (target: Target, request: LoadRequest): string => {
  const parts: string[] = [];
  let bytes = 0;
  const most = request.distinct ?? mostRequests;
  while (parts.length < most && bytes < mostBytes) {
    const text = wired(target, request);
    const length = Buffer.byteLength(text);
    bytes += length;
    parts.push(`${length}\n${text}`);
  }
  return parts.join('');
};

interface Printed {
  readonly answered: number;
  readonly refused: number;
  readonly broken: number;
  readonly micros: number;
  readonly p50: number;
  readonly p95: number;
  readonly cpu: number;
}

/** Sends prepared requests with `wrk`, for whole seconds, at least one. */
export const loadFromWrk = async (
  target: Target,
  request: LoadRequest,
  seconds: number,
  connections: number,
): Promise<Burst> => {
  const directory = await mkdtemp(path.join(tmpdir(), 'basalt-wrk-'));
  try {
    const REQUESTS = path.join(directory, 'requests');
    await writeFile(REQUESTS, made(target, request));
    const duration = `${Math.max(1, Math.round(seconds))}s`;
    const pause = request.perSecond === undefined ? 0 : Math.round((1000 * connections) / request.perSecond);
    const { stdout } = await run(
      'wrk',
      ['-t', '1', '-c', String(connections), '-d', duration, '--timeout', '30s', '-s', script, target.url],
      { env: { ...process.env, REQUESTS, PAUSE: String(pause) } },
    );
    const line = stdout.split('\n').find((text) => text.startsWith('{"answered"'));
    if (line === undefined) throw new Error(`wrk printed no result: ${stdout}`);
    const { micros, p50, p95, ...counts } = JSON.parse(line) as Printed;
    return { ...counts, client: 'wrk', seconds: micros / 1e6, p50: p50 / 1000, p95: p95 / 1000 };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
};

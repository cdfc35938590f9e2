import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { startSupervised } from '../../infra/local/child.ts';
import { probePort } from '../../infra/local/ports.ts';
import type { Contender } from '../contender.ts';
import { cpuOfProcess, findChild } from '../processes.ts';
import { pocketBase } from './install.ts';

const run = promisify(execFile);

const superuser = { identity: 'bench@example.com', password: 'a password for the benchmark' };

/** PocketBase in a process of its own, with its own SQLite file. Callers have all permissions. */
export interface PocketBase extends Contender {
  /** The SQLite file. */
  readonly file: string;
  /** Calls its API. */
  readonly call: <T>(method: string, path: string, body: unknown) => Promise<T>;
}

const caller =
  (url: string, headers: Readonly<Record<string, string>>): PocketBase['call'] =>
  async <T>(method: string, route: string, body: unknown) => {
    const response = await fetch(`${url}${route}`, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`PocketBase answered ${route} ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  };

export const startPocketBase = async (directory: string): Promise<PocketBase> => {
  const data = path.join(directory, 'pocketbase');
  await run(pocketBase, ['superuser', 'upsert', superuser.identity, superuser.password, '--dir', data]);
  const url = `http://127.0.0.1:${await probePort(0)}`;
  const up = Promise.withResolvers<void>();
  const child = startSupervised({
    name: 'PocketBase',
    command: pocketBase,
    args: [
      'serve',
      `--http=${url.slice('http://'.length)}`,
      '--dir',
      data,
      '--automigrate=false',
      '--hooksWatch=false',
    ],
    onLine: (line) => {
      if (line.includes('Server started')) up.resolve();
    },
    onExit: (detail) => up.reject(new Error(`PocketBase did not start: ${detail}`)),
  });
  await up.promise;
  const { token } = await caller(url, {})<{ token: string }>(
    'POST',
    '/api/collections/_superusers/auth-with-password',
    superuser,
  );
  const pid = findChild(pocketBase);
  const headers = { authorization: token };
  return {
    name: 'PocketBase',
    url,
    headers,
    // Its database runs in its process.
    backing: undefined,
    file: path.join(data, 'data.db'),
    call: caller(url, headers),
    commands: async () => [],
    cpu: async () => (pid === undefined ? undefined : cpuOfProcess(pid)),
    stop: () => void child.stop(),
  };
};

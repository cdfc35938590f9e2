import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Model } from './history.ts';

/** The result of a model: objects whose operations have no order that explains their responses, or none within a minute. */
export interface Checked {
  readonly model: Model;
  readonly operations: number;
  readonly objects: number;
  readonly illegal: readonly string[];
  readonly undecided: readonly string[];
}

const run = promisify(execFile);

/** Throws if the machine has no Go. */
export const requireGo = async (): Promise<void> => {
  await run('go', ['version']).catch((cause) => {
    throw new Error('Go is not installed. Install it from https://go.dev, then repeat the command.', { cause });
  });
};

/** Checks a history with Porcupine. `directory` receives a page for each illegal object. */
export const check = async (file: string, directory: string): Promise<readonly Checked[]> => {
  const cwd = path.join(import.meta.dirname, 'checker');
  const { stdout } = await run('go', ['run', '.', file, directory], { cwd, maxBuffer: 2 ** 26 });
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Checked);
};

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type Child, startChild } from '../../infra/local/child.ts';
import type { Inventory } from './inventory.ts';

/** The region of a rehearsal. Certificates of file domains are in another one. */
export const region = 'eu-west-1';

/** The account that moto takes any key to be of. */
export const account = '123456789012';

/** The environment that leads every client of AWS to the emulator only. */
export const awsEnvironment = (address: string): Record<string, string> => ({
  AWS_ENDPOINT_URL: address,
  AWS_REGION: region,
  AWS_ACCESS_KEY_ID: 'rehearsal',
  AWS_SECRET_ACCESS_KEY: 'rehearsal',
  AWS_EC2_METADATA_DISABLED: 'true',
});

/** An account of AWS on this machine. */
export interface Emulator {
  readonly address: string;
  /** Runs a module of `emulator` as a client of the account, and returns what it prints as JSON. */
  ask<T>(module: string, ...args: readonly string[]): Promise<T>;
  /** All that is there. */
  inventory(): Promise<Inventory>;
  stop(): Promise<void>;
}

/** Starts the emulator. Functions are unpacked to `folder`, where they find the packages of Lambda. */
export const startEmulator = async (python: string, folder: string): Promise<Emulator> => {
  const plain = { PATH: process.env.PATH, PYTHONPATH: import.meta.dirname, PYTHONDONTWRITEBYTECODE: '1' };
  const up = Promise.withResolvers<string>();
  const child: Child = startChild({
    name: 'the emulator',
    command: python,
    args: ['-m', 'emulator', process.execPath, folder],
    env: plain,
    onLine: (line) => {
      if (line.startsWith('{"port":')) up.resolve(`http://127.0.0.1:${(JSON.parse(line) as { port: number }).port}`);
      else process.stdout.write(`    ${line}\n`);
    },
    onExit: (detail) => up.reject(new Error(detail)),
  });
  const address = await up.promise;
  const ask = async <T>(module: string, ...args: readonly string[]): Promise<T> => {
    const env = { ...plain, ...awsEnvironment(address), AWS_DEFAULT_REGION: region };
    const options = { env, maxBuffer: 1 << 26 };
    const { stdout } = await promisify(execFile)(python, ['-m', `emulator.${module}`, ...args], options);
    return JSON.parse(stdout) as T;
  };
  return { address, ask, inventory: () => ask<Inventory>('inventory'), stop: () => child.stop() };
};

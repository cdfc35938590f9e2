import { mkdtemp, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestProject } from 'vitest/node';
import { type ExternalS3, startExternalS3 } from './external-s3.ts';
import { receiverAddresses } from './receiver-addresses.ts';
import { startTestStack, type TestStack } from './start-stack.ts';

declare module 'vitest' {
  interface ProvidedContext {
    stack: TestStack;
    /** A customer's S3; the service may connect to it. */
    externalS3: ExternalS3;
  }
}

/** Options of a test run: external databases and the log level. */
const chosen = (): Record<string, string> =>
  Object.fromEntries(
    ['MONGODB_URI', 'AWS_ENDPOINT_URL_DYNAMODB', 'LOG'].flatMap((name) => {
      const value = process.env[name];
      return value ? [[name, value]] : [];
    }),
  );

const memory = '/dev/shm';
const gibibyte = 2 ** 30;

/** In memory if possible, because tests wait for each write to reach the disk. */
const dataFolder = async (): Promise<string> => {
  const { bavail, bsize } = await statfs(memory).catch(() => ({ bavail: 0, bsize: 0 }));
  return bavail * bsize > 8 * gibibyte ? memory : tmpdir();
};

/** Starts the service that all integration tests share. Returns its stop function. */
export const setup = async ({ provide }: TestProject): Promise<() => Promise<void>> => {
  const directory = await mkdtemp(path.join(await dataFolder(), 'basalt-test-'));
  const { stop: stopS3, address, ...externalS3 } = await startExternalS3(path.join(directory, 'external-s3'));
  const permitted = [address, ...receiverAddresses()].join();
  // Tests wait for notifications, which a paused machine would lose.
  const env = { ...chosen(), PERMITTED_ADDRESSES: permitted, NUDGE_MS: '20000' };
  const { pid: _pid, stop, ...stack } = await startTestStack(directory, env);
  provide('stack', stack);
  provide('externalS3', externalS3);
  return async () => {
    await stop();
    await stopS3();
    await rm(directory, { recursive: true, force: true });
  };
};

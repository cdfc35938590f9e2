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
    /** An S3 that a customer may connect; the stack may reach it. */
    externalS3: ExternalS3;
  }
}

/** What may be chosen for a whole test run: databases that run elsewhere, and what is logged. */
const chosen = (): Record<string, string> =>
  Object.fromEntries(
    ['MONGODB_URI', 'AWS_ENDPOINT_URL_DYNAMODB', 'LOG'].flatMap((name) => {
      const value = process.env[name];
      return value ? [[name, value]] : [];
    }),
  );

const memory = '/dev/shm';
const gibibyte = 2 ** 30;

/** In memory, where the system has a folder there with room: tests wait for each of their writes to reach the disk. */
const dataFolder = async (): Promise<string> => {
  const { bavail, bsize } = await statfs(memory).catch(() => ({ bavail: 0, bsize: 0 }));
  return bavail * bsize > 8 * gibibyte ? memory : tmpdir();
};

/** Starts the one stack that all integration tests share, before the first of them; answers how to end it. */
export const setup = async ({ provide }: TestProject): Promise<() => Promise<void>> => {
  const directory = await mkdtemp(path.join(await dataFolder(), 'basalt-test-'));
  const { stop: stopS3, address, ...externalS3 } = await startExternalS3(path.join(directory, 'external-s3'));
  const permitted = [address, ...receiverAddresses()].join();
  // Tests wait for nudges, which a machine that stands still for a moment would lose.
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

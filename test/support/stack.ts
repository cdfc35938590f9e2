import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestProject } from 'vitest/node';
import { startTestStack, type TestStack } from './start-stack.ts';

declare module 'vitest' {
  interface ProvidedContext {
    stack: TestStack;
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

/** Starts the one stack that all integration tests share, before the first of them; answers how to end it. */
export const setup = async ({ provide }: TestProject): Promise<() => Promise<void>> => {
  const directory = await mkdtemp(path.join(tmpdir(), 'basalt-test-'));
  const { pid: _pid, stop, ...stack } = await startTestStack(directory, chosen());
  provide('stack', stack);
  return async () => {
    await stop();
    await rm(directory, { recursive: true, force: true });
  };
};

import { spawn } from 'node:child_process';
import { expect, test } from 'vitest';
import { descendantsOf, stillRunning } from '../support/clients/local-start.ts';
import { plainEnvironment } from '../support/clients/plain-environment.ts';

test.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
  'npm test stops all its tools, tests and stacks when it gets %s',
  async (signal) => {
    const child = spawn(process.execPath, ['scripts/test.ts', 'test/local/start.test.ts'], {
      env: plainEnvironment(),
      stdio: 'ignore',
    });
    const pid = child.pid ?? 0;
    // Lint and types, the worker, the stack of the tests with its parts, and a stack that a test has started.
    await expect.poll(() => descendantsOf(pid).length).toBeGreaterThan(12);
    const children = descendantsOf(pid);
    child.kill(signal);
    await expect.poll(() => stillRunning([pid, ...children])).toEqual([]);
  },
);

import path from 'node:path';
import { startChild } from '../../infra/local/child.ts';
import { plainEnvironment } from './plain-environment.ts';

/** Where the local stack of a test is, and the environment that functions run with there. */
export interface TestStack {
  readonly baseUrl: string;
  readonly dashboardUrl: string;
  /** Where the mail provider sends its events; what it signs them with is in `env`. */
  readonly webhookUrl: string;
  readonly mongoUri: string;
  readonly dynamoUrl: string;
  readonly env: Readonly<Record<string, string>>;
}

export interface RunningStack extends TestStack {
  readonly pid: number;
  stop(): Promise<void>;
}

const script = path.join(import.meta.dirname, 'serve-stack.ts');

/**
 * Starts a stack of its own, in a process of its own, with its data in `directory`. `env` adds settings to those of tests:
 * no rate limit, cheap passwords, no log.
 */
export const startTestStack = async (
  directory: string,
  env: Readonly<Record<string, string>> = {},
): Promise<RunningStack> => {
  const started = Promise.withResolvers<TestStack>();
  const child = startChild({
    name: 'the test stack',
    command: process.execPath,
    args: [script, directory],
    env: { ...plainEnvironment(), RATE_LIMIT: '0', PASSWORD_COST: '4', LOG: 'silent', USAGE_SECONDS: '0', ...env },
    onLine: (line) => {
      if (line.startsWith('{"baseUrl":')) started.resolve(JSON.parse(line) as TestStack);
      else process.stderr.write(`${line}\n`);
    },
    onExit: (detail) => started.reject(new Error(detail)),
  });
  return { ...(await started.promise), pid: child.pid, stop: child.stop };
};

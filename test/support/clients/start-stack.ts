import path from 'node:path';
import { startChild } from '../../../infra/local/child.ts';
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

/** Pages of somebody's own that call the dashboard API, beside the console. */
const pages = { DASHBOARD_ORIGINS: 'http://localhost:3000' };

/** How a start ends where a part met a port that another program took between the draw and its use. */
const lostPort = /did not start|EADDRINUSE/;

const startOnce = async (
  directory: string,
  env: Readonly<Record<string, string>>,
  onLine: (line: string) => void,
): Promise<RunningStack> => {
  const started = Promise.withResolvers<TestStack>();
  const said: string[] = [];
  const child = startChild({
    name: 'the test stack',
    command: process.execPath,
    args: [script, directory],
    env: {
      ...plainEnvironment(),
      RATE_LIMIT: '0',
      PASSWORD_COST: '4',
      LOG: 'silent',
      USAGE_SECONDS: '0',
      ...pages,
      ...env,
    },
    onLine: (line) => {
      if (line.startsWith('{"baseUrl":')) {
        started.resolve(JSON.parse(line) as TestStack);
        return;
      }
      if (said.length < 100) said.push(line);
      onLine(line);
    },
    onExit: (detail) => started.reject(new Error([detail, ...said].join('\n'))),
  });
  return { ...(await started.promise), pid: child.pid, stop: child.stop };
};

/**
 * Starts a stack of its own, in a process of its own, with its data in `directory`; up to three times where a port was
 * lost. `env` adds settings to those of tests: no rate limit, cheap passwords, no log. `onLine` gets what the stack
 * writes.
 */
export const startTestStack = async (
  directory: string,
  env: Readonly<Record<string, string>> = {},
  onLine: (line: string) => void = (line) => process.stderr.write(`${line}\n`),
): Promise<RunningStack> => {
  for (let attempt = 1; ; attempt++) {
    try {
      return await startOnce(directory, env, onLine);
    } catch (error) {
      if (attempt === 3 || !lostPort.test(String(error))) throw error;
      process.stderr.write(`again: the start of a test stack\n${String(error)}\n`);
    }
  }
};

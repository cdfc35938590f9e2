import path from 'node:path';
import { startChild } from '../../../infra/local/child.ts';
import { plainEnvironment } from './plain-environment.ts';

/** The addresses of a test's service, and the environment of its functions. */
export interface TestStack {
  readonly baseUrl: string;
  readonly dashboardUrl: string;
  /** The receiver of email events; the signing secret is in `env`. */
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

/** Other pages that may call the dashboard API. */
const pages = { DASHBOARD_ORIGINS: 'http://localhost:3000' };

/** The message of a start whose port was taken by another program. */
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
 * Starts a service in a process of its own, with its data in `directory`; up to three times if a port was taken. `env`
 * adds settings to those of tests: no rate limit, cheap passwords, no log. `onLine` receives its output.
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

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { root } from '../../infra/build/function-files.ts';
import { plainEnvironment } from '../support/clients/plain-environment.ts';
import { HttpProxy } from '../support/faults/http-proxy.ts';

/** A fake Lambda API with one function, whose environment has the deployed settings. */
let lambda: HttpProxy;

const DEPLOYED_SETTINGS = JSON.stringify({ alarmEmail: 'ops@example.com', logDays: '7' });

beforeAll(async () => {
  const Functions = [{ FunctionName: 'Tried-Jobs-1', Environment: { Variables: { DEPLOYED_SETTINGS } } }];
  lambda = await HttpProxy.start();
  lambda.meet({ body: { Functions } });
});
afterAll(() => lambda.close());

const deploy = (args: readonly string[]) =>
  new Promise<{ readonly code: unknown; readonly text: string }>((resolve) => {
    const env = {
      ...plainEnvironment(),
      AWS_ENDPOINT_URL_LAMBDA: lambda.url,
      AWS_REGION: 'eu-west-1',
      AWS_ACCESS_KEY_ID: 'test',
      AWS_SECRET_ACCESS_KEY: 'test',
    };
    const command = [join(root, 'infra/operate/deploy/main.ts'), '-c', 'deployment=Tried', ...args];
    execFile(process.execPath, command, { env }, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, text: stdout + stderr }),
    );
  });

test('npm run deploy stops when a deployed setting would be lost', async () => {
  const { code, text } = await deploy(['-c', 'logDays=14']);
  expect(text).toMatch(/^Nothing was deployed\. .*would be lost:\n {2}alarmEmail=ops@example\.com\n.*--keep/);
  expect(code).toBe(1);
});

test.each([
  [['--forget'], '--forget needs the name of a setting.\n'],
  [['--keep', '-c', 'logDays=8'], 'Deployment setting logDays must be one of 1, 3, 5'],
  [['--keep', '-c', 'logDay=7'], 'Unknown deployment setting logDay'],
])('npm run deploy -- %j stops with the reason before anything is deployed', async (args, message) => {
  const { code, text } = await deploy(args);
  expect(text).toContain(message);
  expect(text.split('\n').length).toBeLessThan(5);
  expect(code).toBe(1);
});

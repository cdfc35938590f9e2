import { createRequire } from 'node:module';
import { join } from 'node:path';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { mockClient } from 'aws-sdk-client-mock';
import { expect, test, vi } from 'vitest';
import { root } from '../../infra/build/function-files.ts';
import { jobsOf } from './synthesis.ts';

const first = jobsOf({});
const second = jobsOf({});
const changed = [...first.keys()].filter((id) => JSON.stringify(first.get(id)) !== JSON.stringify(second.get(id)));

test('second deployment changes only the triggers of deployment jobs', () => {
  expect(changed.map((id) => first.get(id)?.Type)).toEqual(['Custom::Trigger']);
});

test('changed trigger calls the function, which creates missing indexes', async () => {
  const log = vi.spyOn(console, 'log').mockImplementation(() => undefined);
  const lambda = mockClient(LambdaClient);
  lambda.on(InvokeCommand).resolves({ StatusCode: 200 });
  const path = 'node_modules/aws-cdk-lib/custom-resource-handlers/dist/triggers/lambda/index.js';
  const { handler } = createRequire(import.meta.url)(join(root, path)) as {
    readonly handler: (event: object) => Promise<void>;
  };
  const [trigger] = changed.map((id) => second.get(id)?.Properties);
  const text = Object.entries(trigger ?? {}).map(([name, value]) => [name, String(value)]);
  const ResourceProperties = { ...Object.fromEntries(text), HandlerArn: 'arn:of:prepare-control:1' };
  await handler({ RequestType: 'Update', ResourceProperties });
  expect(lambda.commandCalls(InvokeCommand).map(({ args: [{ input }] }) => input)).toEqual([
    { FunctionName: 'arn:of:prepare-control:1', InvocationType: 'RequestResponse' },
  ]);
  lambda.restore();
  log.mockRestore();
});

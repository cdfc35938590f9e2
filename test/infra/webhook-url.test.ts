import { expect, test } from 'vitest';
import { webhookRoutes } from '../../functions/mail/webhook/routes.ts';
import { areaStackName } from '../../infra/stacks/area-stack.ts';
import { ofType, routesOf, synthesise } from './synthesis.ts';

const { stacks, outputs } = synthesise();
const name = `Basalt-${areaStackName('mail/webhook')}`;
const resources = stacks.get(name) ?? new Map();

test('webhook has one function for its route and for its public URL', () => {
  const [route] = routesOf(resources);
  const urls = [...ofType(resources, 'AWS::Lambda::Url').values()];
  expect(route?.key).toBe('POST /api/mail/webhook');
  expect(urls).toHaveLength(1);
  expect(urls[0]?.Properties.AuthType).toBe('NONE');
  expect(JSON.stringify(urls[0]?.Properties.TargetFunctionArn)).toContain(route?.functionId);
});

test('webhook URL is an output', () => {
  expect(outputs.get(name)).toEqual(['receivewebhookurl']);
});

test('concurrency of the webhook is bounded', () => {
  const [lambda] = ofType(resources, 'AWS::Lambda::Function').values();
  expect(lambda?.Properties).toMatchObject({
    Description: webhookRoutes['receive-webhook'].summary,
    ReservedConcurrentExecutions: 20,
  });
});

test('no other function has a public URL', () => {
  const others = [...stacks].filter(([stack]) => stack !== name);
  const urls = others.flatMap(([, each]) => [...ofType(each, 'AWS::Lambda::Url').values()]);
  expect(urls.map(({ Properties }) => Properties.AuthType)).toEqual(['AWS_IAM']);
});

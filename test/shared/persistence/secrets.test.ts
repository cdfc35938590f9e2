import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { secret } from '../../../shared/persistence/secrets.ts';
import { HttpProxy } from '../../support/faults/http-proxy.ts';

let service: HttpProxy;

const answer = { body: { SecretString: 'the value' } };

beforeAll(async () => {
  service = await HttpProxy.start();
  vi.stubEnv('AWS_ENDPOINT_URL_SECRETS_MANAGER', service.url);
  vi.stubEnv('AWS_REGION', 'eu-west-1');
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'test');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'test');
});

afterEach(() => service.heal());
afterAll(async () => {
  vi.unstubAllEnvs();
  await service.close();
});

test('a secret is fetched one time', async () => {
  service.meet(answer);
  expect(await Promise.all([secret('arn:once'), secret('arn:once')])).toEqual(['the value', 'the value']);
  expect(await secret('arn:once')).toBe('the value');
  expect(service.asked).toHaveLength(1);
});

test('503 for all waiting callers when the store does not respond; the next caller fetches again', async () => {
  service.meet('hang');
  const waiting = await Promise.allSettled([secret('arn:silent'), secret('arn:silent')]);
  for (const outcome of waiting) {
    expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'SERVICE_UNAVAILABLE', retryAfter: 5 } });
  }
  service.heal();
  service.meet(answer);
  expect(await secret('arn:silent')).toBe('the value');
});

test('503 until an empty secret is filled', async () => {
  service.meet({ body: {} });
  await expect(secret('arn:empty')).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  service.heal();
  service.meet(answer);
  expect(await secret('arn:empty')).toBe('the value');
});

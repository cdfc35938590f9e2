import { afterEach, expect, test, vi } from 'vitest';
import { defaultProvider } from '../../infra/build/aws-credentials.ts';

afterEach(() => vi.unstubAllEnvs());

const stubKeys = (key: string | undefined, secret: string | undefined, token: string | undefined): void => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', key);
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', secret);
  vi.stubEnv('AWS_SESSION_TOKEN', token);
};

test('credentials are those that Lambda puts into the environment', async () => {
  stubKeys('AKIDEXAMPLE', 'secret', 'token');
  const given = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret', sessionToken: 'token' };
  expect(await defaultProvider()()).toEqual(given);
});

test('credentials without a session token are those of a user', async () => {
  stubKeys('AKIDEXAMPLE', 'secret', undefined);
  expect(await defaultProvider()()).toEqual({ accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret' });
});

test('an environment without credentials is said', async () => {
  stubKeys('AKIDEXAMPLE', undefined, undefined);
  await expect(defaultProvider()()).rejects.toThrow('The environment holds no credentials of AWS');
});

import { afterEach, expect, test, vi } from 'vitest';
import { defaultProvider } from '../../infra/build/aws-credentials.ts';

afterEach(() => vi.unstubAllEnvs());

const stubKeys = (key: string | undefined, secret: string | undefined, token: string | undefined): void => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', key);
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', secret);
  vi.stubEnv('AWS_SESSION_TOKEN', token);
};

test('credentials come from the environment of the function', async () => {
  stubKeys('AKIDEXAMPLE', 'secret', 'token');
  const given = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret', sessionToken: 'token' };
  expect(await defaultProvider()()).toEqual(given);
});

test('credentials have no session token when the environment has none', async () => {
  stubKeys('AKIDEXAMPLE', 'secret', undefined);
  expect(await defaultProvider()()).toEqual({ accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret' });
});

test('credentials are an error when the environment has none', async () => {
  stubKeys('AKIDEXAMPLE', undefined, undefined);
  await expect(defaultProvider()()).rejects.toThrow('The environment holds no credentials of AWS');
});

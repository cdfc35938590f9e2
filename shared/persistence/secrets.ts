import { clock } from '../core/clock.ts';
import { JsonClient } from './aws-client.ts';
import { serviceUnavailable, shortTries } from './service-client.ts';

interface Operations {
  readonly GetSecretValue: { input: { readonly SecretId: string }; output: { readonly SecretString?: string } };
}

const service = { service: 'secretsmanager', endpoint: 'SECRETS_MANAGER', target: 'secretsmanager' } as const;

interface Fetched {
  readonly value: Promise<string>;
  readonly at: number;
}

const values = new Map<string, Fetched>();

const fetchSecret = async (arn: string): Promise<string> => {
  const client = new JsonClient<Operations>({ ...service, json: '1.1', ...shortTries });
  try {
    const { SecretString } = await client.send('GetSecretValue', { SecretId: arn });
    if (!SecretString) throw new Error('The secret is empty');
    return SecretString;
  } finally {
    client.destroy();
  }
};

/**
 * The text of a secret, fetched one time per process, or again after `maxAgeMs`. No response within 4 s, or an error →
 * `SERVICE_UNAVAILABLE`, and the next caller retries.
 */
export const secret = (arn: string, maxAgeMs = Number.POSITIVE_INFINITY): Promise<string> => {
  const known = values.get(arn);
  if (known && clock.now() - known.at < maxAgeMs) return known.value;
  const value = fetchSecret(arn).catch((cause: unknown) => {
    values.delete(arn);
    throw serviceUnavailable(cause);
  });
  values.set(arn, { value, at: clock.now() });
  return value;
};

/** A setting's value (local), or that of its secret (deployed); empty without both. */
export const settingText = async (direct: string | undefined, arn: string | undefined, maxAgeMs?: number) =>
  direct || (arn ? await secret(arn, maxAgeMs) : '');

/** The next caller fetches each secret again. */
export const forgetSecrets = (): void => values.clear();

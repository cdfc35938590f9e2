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
 * The text of a Secrets Manager secret, fetched once a process, or again once it is older than `maxAgeMs`. No answer
 * within 4 s, or a refusal → `SERVICE_UNAVAILABLE`, and the next caller fetches anew.
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

/** A setting that is there directly (local), or as the secret that holds it (deployed); empty where it is neither. */
export const settingText = async (direct: string | undefined, arn: string | undefined, maxAgeMs?: number) =>
  direct || (arn ? await secret(arn, maxAgeMs) : '');

/** Has every secret fetched anew by who next asks for it. */
export const forgetSecrets = (): void => values.clear();

import { clock } from '../core/clock.ts';
import { serviceUnavailable, shortCallMs, shortCalls } from './service-client.ts';

interface Fetched {
  readonly value: Promise<string>;
  readonly at: number;
}

const values = new Map<string, Fetched>();

const fetchSecret = async (arn: string): Promise<string> => {
  const { GetSecretValueCommand, SecretsManagerClient } = await import('@aws-sdk/client-secrets-manager');
  const client = new SecretsManagerClient(shortCalls);
  try {
    const command = new GetSecretValueCommand({ SecretId: arn });
    const { SecretString } = await client.send(command, { abortSignal: AbortSignal.timeout(shortCallMs) });
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

/** Has every secret fetched anew by who next asks for it. */
export const forgetSecrets = (): void => values.clear();

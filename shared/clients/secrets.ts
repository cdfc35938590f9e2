import { clock } from '../clock.ts';
import { AppError } from '../errors.ts';

interface Fetched {
  readonly value: Promise<string>;
  readonly at: number;
}

const values = new Map<string, Fetched>();

const fetchSecret = async (arn: string): Promise<string> => {
  const { GetSecretValueCommand, SecretsManagerClient } = await import('@aws-sdk/client-secrets-manager');
  const { SecretString } = await new SecretsManagerClient({}).send(new GetSecretValueCommand({ SecretId: arn }));
  if (!SecretString) throw new Error('The secret is empty');
  return SecretString;
};

/**
 * The text of a Secrets Manager secret, fetched once a process, or again once it is older than `maxAgeMs`; a failed fetch is
 * tried again next time.
 */
export const secret = (arn: string, maxAgeMs = Number.POSITIVE_INFINITY): Promise<string> => {
  const known = values.get(arn);
  if (known && clock.now() - known.at < maxAgeMs) return known.value;
  const value = fetchSecret(arn).catch((cause: unknown) => {
    values.delete(arn);
    throw new AppError('SERVICE_UNAVAILABLE', 'The service is not available right now. Please try again.', {
      cause,
      retryAfter: 5,
    });
  });
  values.set(arn, { value, at: clock.now() });
  return value;
};

import { AppError } from '../errors.ts';

const values = new Map<string, Promise<string>>();

const fetchSecret = async (arn: string): Promise<string> => {
  const { GetSecretValueCommand, SecretsManagerClient } = await import('@aws-sdk/client-secrets-manager');
  const { SecretString } = await new SecretsManagerClient({}).send(new GetSecretValueCommand({ SecretId: arn }));
  if (!SecretString) throw new Error('The secret is empty');
  return SecretString;
};

/** The text of a Secrets Manager secret, fetched once a process; a failed fetch is tried again next time. */
export const secret = (arn: string): Promise<string> => {
  let value = values.get(arn);
  if (!value) {
    value = fetchSecret(arn).catch((cause: unknown) => {
      values.delete(arn);
      throw new AppError('SERVICE_UNAVAILABLE', 'The service is not available right now. Please try again.', {
        cause,
        retryAfter: 5,
      });
    });
    values.set(arn, value);
  }
  return value;
};

import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { parseSecrets } from '../../../shared/mail/event-signature.ts';
import { type FilledSecret, filledSecrets } from '../../stacks/secrets.ts';
import { withClient } from './aws-clients.ts';
import { type Check, failed, type Outcome, ok, setting, type Target, warning } from './check.ts';

/** Returns a secret: from the variable `direct` (local), or from the secret whose ARN is in the variable `arn`. */
export const secretOf = async (target: Target, direct: string, arn: string): Promise<string> => {
  const value = target.environment[direct];
  if (value) return value;
  const SecretId = setting(target, arn);
  const { SecretString = '' } = await withClient(new SecretsManagerClient(target.aws), (client) =>
    client.send(new GetSecretValueCommand({ SecretId })),
  );
  return SecretString;
};

interface SecretRule {
  readonly name: string;
  readonly direct: string;
  readonly arn: string;
  readonly isFilled: (value: string) => boolean;
  readonly missing: Outcome;
  /** The secret is only needed if this variable is set. */
  readonly neededFor?: string;
}

const putIn = 'Set it: aws secretsmanager put-secret-value --secret-id <ARN> --secret-string <value>';

const isBase64Key = (text: string): boolean => Buffer.from(text, 'base64').length >= 32;

/** True if a deployment would accept this value of the secret. */
export const hasShape =
  (name: FilledSecret) =>
  (value: string): boolean =>
    filledSecrets[name].shape.test(value);

/** An unset secret holds random characters, so each is recognized by its form. */
const rules: readonly SecretRule[] = [
  {
    name: 'MongoDB secret',
    direct: 'MONGODB_URI',
    arn: 'MONGODB_SECRET_ARN',
    isFilled: hasShape('mongodbSecret'),
    missing: failed('is not a MongoDB URI', putIn),
  },
  {
    name: 'master key',
    direct: 'ENCRYPTION_KEY',
    arn: 'ENCRYPTION_SECRET_ARN',
    isFilled: isBase64Key,
    missing: failed(
      'is shorter than 32 bytes in base64',
      'Restore the key that encrypted the stored secrets; a new key cannot decrypt them.',
    ),
  },
  {
    name: 'mail provider secret',
    direct: 'MAIL_PROVIDER_KEY',
    arn: 'MAIL_PROVIDER_SECRET_ARN',
    isFilled: hasShape('mailProviderSecret'),
    missing: warning('is not a key of the mail provider (re_…), so no email is sent', putIn),
  },
  {
    name: 'mail webhook secret',
    direct: 'MAIL_WEBHOOK_SECRET',
    arn: 'MAIL_WEBHOOK_SECRET_ARN',
    isFilled: (value) => parseSecrets(value).length > 0,
    missing: warning('is not a signing secret (whsec_…), so deliveries and bounces are not recorded', putIn),
  },
  {
    name: 'language model secret',
    direct: 'AI_API_KEY',
    arn: 'AI_SECRET_ARN',
    isFilled: (value) => /^[\w.:-]{8,}$/.test(value),
    missing: warning('is not a key, so the schema assistant returns 503', putIn),
    neededFor: 'AI_BASE_URL',
  },
  {
    name: 'GitHub app secret',
    direct: 'DASHBOARD_GITHUB_SECRET',
    arn: 'DASHBOARD_GITHUB_SECRET_ARN',
    isFilled: (value) => /^[\w-]+$/.test(value),
    missing: warning('is not a client secret, so developers cannot sign in with GitHub', putIn),
    neededFor: 'DASHBOARD_GITHUB_CLIENT_ID',
  },
];

const checkOf = ({ name, direct, arn, isFilled, missing, neededFor }: SecretRule): Check => ({
  name,
  run: async (target) => {
    if (neededFor !== undefined && !target.environment[neededFor]) return ok(`not needed, ${neededFor} is not set`);
    return isFilled((await secretOf(target, direct, arn)).trim()) ? ok('is set') : missing;
  },
});

export const secretChecks: readonly Check[] = rules.map(checkOf);

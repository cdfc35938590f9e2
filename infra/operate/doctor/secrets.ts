import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { parseSecrets } from '../../../shared/mail/event-signature.ts';
import { type FilledSecret, filledSecrets } from '../../stacks/secrets.ts';
import { asking } from './asking.ts';
import { type Check, failed, type Outcome, ok, setting, type Target, warning } from './check.ts';

/** A secret by its settings: the value itself (local), or the ARN of what holds it (deployed). */
export const secretOf = async (target: Target, direct: string, arn: string): Promise<string> => {
  const value = target.environment[direct];
  if (value) return value;
  const SecretId = setting(target, arn);
  const { SecretString = '' } = await asking(new SecretsManagerClient(target.aws), (client) =>
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
  /** Where this is not set, nobody needs the secret. */
  readonly neededFor?: string;
}

const putIn = 'Put it in with: aws secretsmanager put-secret-value --secret-id <ARN> --secret-string <value>';

const isBase64Key = (text: string): boolean => Buffer.from(text, 'base64').length >= 32;

/** Whether a value has the form by which a deployment takes it. */
export const hasShape =
  (name: FilledSecret) =>
  (value: string): boolean =>
    filledSecrets[name].shape.test(value);

/** A secret that nobody has filled holds random letters and signs, so each is known by its form. */
const rules: readonly SecretRule[] = [
  {
    name: 'secret of MongoDB',
    direct: 'MONGODB_URI',
    arn: 'MONGODB_SECRET_ARN',
    isFilled: hasShape('mongodbSecret'),
    missing: failed('holds no MongoDB URI', putIn),
  },
  {
    name: 'master key',
    direct: 'ENCRYPTION_KEY',
    arn: 'ENCRYPTION_SECRET_ARN',
    isFilled: isBase64Key,
    missing: failed('is shorter than 32 bytes in base64', 'Restore the key that the stored secrets were sealed with.'),
  },
  {
    name: 'secret of the mail provider',
    direct: 'MAIL_PROVIDER_KEY',
    arn: 'MAIL_PROVIDER_SECRET_ARN',
    isFilled: hasShape('mailProviderSecret'),
    missing: warning('holds no key of the mail provider (re_…), so no mail goes out', putIn),
  },
  {
    name: 'secret of the mail webhook',
    direct: 'MAIL_WEBHOOK_SECRET',
    arn: 'MAIL_WEBHOOK_SECRET_ARN',
    isFilled: (value) => parseSecrets(value).length > 0,
    missing: warning('holds no signing secret (whsec_…), so what becomes of mails is not learned', putIn),
  },
  {
    name: 'secret of the language model',
    direct: 'AI_API_KEY',
    arn: 'AI_SECRET_ARN',
    isFilled: (value) => /^[\w.:-]{8,}$/.test(value),
    missing: warning('holds no key, so the schema assistant answers 503', putIn),
    neededFor: 'AI_BASE_URL',
  },
  {
    name: 'secret of the app at GitHub',
    direct: 'DASHBOARD_GITHUB_SECRET',
    arn: 'DASHBOARD_GITHUB_SECRET_ARN',
    isFilled: (value) => /^[\w-]+$/.test(value),
    missing: warning('holds no client secret, so developers cannot sign in with GitHub', putIn),
    neededFor: 'DASHBOARD_GITHUB_CLIENT_ID',
  },
];

const checkOf = ({ name, direct, arn, isFilled, missing, neededFor }: SecretRule): Check => ({
  name,
  run: async (target) => {
    if (neededFor !== undefined && !target.environment[neededFor]) return ok(`is not needed: ${neededFor} is not set`);
    return isFilled((await secretOf(target, direct, arn)).trim()) ? ok('is filled') : missing;
  },
});

export const secretChecks: readonly Check[] = rules.map(checkOf);

import { parseSecrets } from '../../shared/mail/event-signature.ts';
import { rateShares } from '../settings/rate-limits.ts';
import { StartProblem } from './problem.ts';

/** The settings of the local service, from environment variables (docs/reference/commands.md). */
export interface LocalSettings {
  /** The folder of all data. */
  readonly directory: string;
  /** The port of the public API. The dashboard API uses the next one, and the mail webhook the one after it. */
  readonly port: number;
  readonly mongoUri: string | undefined;
  readonly dynamoEndpoint: string | undefined;
  /** An S3 of the user's own, and the public address of the folder `files/` in its bucket. */
  readonly files: { readonly s3Url: string; readonly filesUrl: string; readonly bucket: string } | undefined;
  /** Origins of pages other than the console that may call the dashboard API. */
  readonly dashboardOrigins: readonly string[];
  /** Without live updates (`REALTIME=off`), clients poll for changes. */
  readonly liveUpdates: boolean;
  /** Environment variables for the functions. */
  readonly functions: Readonly<Record<string, string>>;
}

const wholeNumber = (name: string, value: string, max: number, min = 0): number => {
  if (!/^\d{1,9}$/.test(value) || Number(value) > max || Number(value) < min) {
    throw new StartProblem(`${name} must be a whole number from ${min} to ${max}, not "${value.slice(0, 40)}".`);
  }
  return Number(value);
};

const maxNumber = 999_999_999;

export const localBucket = 'basalt-files';

/** So high that developers do not reach it. The limits of a deployment are 100, 60 and 20. */
const localRateLimit = '10000';

const rateLimits = (env: NodeJS.ProcessEnv): Record<string, string> => {
  const all = wholeNumber('RATE_LIMIT', env.RATE_LIMIT || localRateLimit, maxNumber);
  const limit = (name: string, share: number): string =>
    String(wholeNumber(name, env[name] || String(Math.ceil(all * share)), maxNumber));
  return {
    RATE_LIMIT: String(all),
    AUTH_RATE_LIMIT: limit('AUTH_RATE_LIMIT', rateShares.authRateLimit),
    CREDENTIAL_RATE_LIMIT: limit('CREDENTIAL_RATE_LIMIT', rateShares.credentialRateLimit),
    RATE_BLOCK: String(wholeNumber('RATE_BLOCK', env.RATE_BLOCK || '0', maxNumber)),
  };
};

const passedOn = [
  'LOG',
  'DASHBOARD_URL',
  'PASSWORD_COST',
  'DASHBOARD_TOKEN_SECONDS',
  'TABLE_NAME',
  'CONTROL_DATABASE',
  'MAIL_RETRY_SECONDS',
  'USAGE_SECONDS',
  'NUDGE_MS',
  'MAIL_PER_SECOND',
  'ACCOUNT_MAILS_PER_DAY',
  'MAIL_RECIPIENTS_PER_DAY',
  'AI_BASE_URL',
  'AI_API_KEY',
  'AI_MODEL',
  'AI_TIMEOUT_SECONDS',
] as const;

const numbers: Readonly<Record<string, readonly [min: number, max: number]>> = {
  PASSWORD_COST: [4, 15],
  DASHBOARD_TOKEN_SECONDS: [1, maxNumber],
  ACCOUNT_MAILS_PER_DAY: [0, maxNumber],
  MAIL_RECIPIENTS_PER_DAY: [0, maxNumber],
  MAIL_PER_SECOND: [0, maxNumber],
  MAIL_RETRY_SECONDS: [0, maxNumber],
  // Node's timers wait for 24 days at most.
  USAGE_SECONDS: [0, 86_400],
  NUDGE_MS: [1, 25_000],
  AI_TIMEOUT_SECONDS: [1, 25],
};

const url = (example: string) => [/^https?:\/\/[^\s?#]+$/, `an address such as ${example}`] as const;

const texts: Readonly<Record<string, readonly [pattern: RegExp, form: string]>> = {
  LOG: [/^(?:info|debug|silent)$/, 'info, debug or silent'],
  REALTIME: [/^(?:on|off)$/, 'on or off'],
  DASHBOARD_URL: url('http://localhost:3000'),
  AI_BASE_URL: url('http://127.0.0.1:11434/v1'),
  CONTROL_DATABASE: [/^[\w-]{1,63}$/, 'letters, digits, - and _, at most 63'],
  TABLE_NAME: [/^[\w.-]{3,255}$/, '3 to 255 letters, digits, -, _ and dots'],
};

/** Rejects invalid values when the service starts, not when a request needs them. */
const requireValid = (env: NodeJS.ProcessEnv): void => {
  for (const [name, [min, max]] of Object.entries(numbers)) if (env[name]) wholeNumber(name, env[name], max, min);
  for (const [name, [pattern, form]] of Object.entries(texts)) {
    const value = env[name];
    if (value && !pattern.test(value)) throw new StartProblem(`${name} must be ${form}, not "${value.slice(0, 40)}".`);
  }
  const { MAIL_WEBHOOK_SECRET } = env;
  if (MAIL_WEBHOOK_SECRET && parseSecrets(MAIL_WEBHOOK_SECRET).length === 0) {
    throw new StartProblem(
      'MAIL_WEBHOOK_SECRET must be whsec_ followed by base64, or several of these separated by commas.',
    );
  }
};

const otherFiles = ({ AWS_ENDPOINT_URL_S3, FILES_URL, FILES_BUCKET }: NodeJS.ProcessEnv): LocalSettings['files'] => {
  if (!AWS_ENDPOINT_URL_S3) return undefined;
  if (!FILES_URL) {
    throw new StartProblem('AWS_ENDPOINT_URL_S3 is set, so FILES_URL must be the public address of its files.');
  }
  return { s3Url: AWS_ENDPOINT_URL_S3, filesUrl: FILES_URL, bucket: FILES_BUCKET || localBucket };
};

/** Splits a comma-separated list. Throws `StartProblem` with the first malformed entry. */
const listIn = (
  env: NodeJS.ProcessEnv,
  name: string,
  entry: RegExp,
  form: string,
  example: string,
): readonly string[] => {
  const list = (env[name] ?? '').split(',').flatMap((text) => text.trim() || []);
  const wrong = list.find((text) => !entry.test(text));
  if (wrong === undefined) return list;
  throw new StartProblem(`${name} must be a list such as ${example}; "${wrong.slice(0, 40)}" is not ${form}.`);
};

/** Addresses of this machine or network that webhooks, databases and storages of projects may use. */
const permittedIn = (env: NodeJS.ProcessEnv): readonly string[] =>
  listIn(
    env,
    'PERMITTED_ADDRESSES',
    /^(?:\d+(?:\.\d+){3}|\[[\da-f:]+\]):\d{1,5}$/i,
    'an IP address with a port',
    '127.0.0.1:3000,127.0.0.1:3001',
  );

const originsIn = (env: NodeJS.ProcessEnv): readonly string[] =>
  listIn(
    env,
    'DASHBOARD_ORIGINS',
    /^https?:\/\/[^\s/?#,@]+$/,
    "a page's origin",
    'http://localhost:3000,https://app.example.com',
  );

/** Parses the settings. Throws `StartProblem` for an invalid value. */
export const parseSettings = (env: NodeJS.ProcessEnv): LocalSettings => {
  requireValid(env);
  return {
    directory: env.BASALT_DIR || '.basalt',
    port: wholeNumber('PORT', env.PORT || '4000', 65_533),
    mongoUri: env.MONGODB_URI || undefined,
    dynamoEndpoint: env.AWS_ENDPOINT_URL_DYNAMODB || undefined,
    files: otherFiles(env),
    dashboardOrigins: originsIn(env),
    liveUpdates: env.REALTIME !== 'off',
    functions: {
      ...(env.PERMITTED_ADDRESSES && { PERMITTED_ADDRESSES: permittedIn(env).join() }),
      // The fake mail provider has no limit.
      MAIL_PER_SECOND: '0',
      MAIL_RECIPIENTS_PER_DAY: '0',
      // All functions run in one process, which sees changed settings immediately.
      FEED_SETTLE_SECONDS: '0',
      ...rateLimits(env),
      ...(env.MAIL_WEBHOOK_SECRET !== undefined && { MAIL_WEBHOOK_SECRET: env.MAIL_WEBHOOK_SECRET }),
      ...Object.fromEntries(passedOn.flatMap((name) => (env[name] ? [[name, env[name]]] : []))),
    },
  };
};

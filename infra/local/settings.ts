import { parseSecrets } from '../../shared/mail/event-signature.ts';
import { rateShares } from '../settings/rate-limits.ts';
import { StartProblem } from './problem.ts';

/** How the local stack was asked to run, from the environment (docs/commands.md). */
export interface LocalSettings {
  /** Where all state is kept. */
  readonly directory: string;
  /** Public API; the dashboard API is on the next port, the mail webhook's function URL on the one after. */
  readonly port: number;
  readonly mongoUri: string | undefined;
  readonly dynamoEndpoint: string | undefined;
  /** Another S3 to use, with the public address of what is below `files/` in its bucket. */
  readonly files: { readonly s3Url: string; readonly filesUrl: string; readonly bucket: string } | undefined;
  /** Origins of other pages than the console's that may call the dashboard API. */
  readonly dashboardOrigins: readonly string[];
  /** Whether there are live updates; without, clients ask for changes (`REALTIME=off`). */
  readonly liveUpdates: boolean;
  /** Environment for the functions, as far as it is the user's to choose. */
  readonly functions: Readonly<Record<string, string>>;
}

const wholeNumber = (name: string, value: string, most: number, least = 0): number => {
  if (!/^\d{1,9}$/.test(value) || Number(value) > most || Number(value) < least) {
    const range = least === 0 ? `up to ${most}` : `from ${least} to ${most}`;
    throw new StartProblem(`${name} must be a whole number ${range}; it is "${value.slice(0, 40)}".`);
  }
  return Number(value);
};

const largest = 999_999_999;

/** The bucket of the files. */
export const localBucket = 'basalt-files';

/** Enough for any day's work: nobody should meet the limits of the deployment (100, 60, 20) by developing. */
const localRateLimit = '10000';

const rateLimits = (env: NodeJS.ProcessEnv): Record<string, string> => {
  const all = wholeNumber('RATE_LIMIT', env.RATE_LIMIT || localRateLimit, largest);
  const limit = (name: string, share: number): string =>
    String(wholeNumber(name, env[name] || String(Math.ceil(all * share)), largest));
  return {
    RATE_LIMIT: String(all),
    AUTH_RATE_LIMIT: limit('AUTH_RATE_LIMIT', rateShares.authRateLimit),
    CREDENTIAL_RATE_LIMIT: limit('CREDENTIAL_RATE_LIMIT', rateShares.credentialRateLimit),
    RATE_BLOCK: String(wholeNumber('RATE_BLOCK', env.RATE_BLOCK || '0', largest)),
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

/** Numbers, with the least and the largest that can be used. */
const numbers: Readonly<Record<string, readonly [least: number, most: number]>> = {
  PASSWORD_COST: [4, 15],
  DASHBOARD_TOKEN_SECONDS: [1, largest],
  ACCOUNT_MAILS_PER_DAY: [0, largest],
  MAIL_RECIPIENTS_PER_DAY: [0, largest],
  MAIL_PER_SECOND: [0, largest],
  MAIL_RETRY_SECONDS: [0, largest],
  // A timer of Node waits 24 days at most.
  USAGE_SECONDS: [0, 86_400],
  NUDGE_MS: [1, 25_000],
  AI_TIMEOUT_SECONDS: [1, 25],
};

const url = (example: string) => [/^https?:\/\/[^\s?#]+$/, `an address such as ${example}`] as const;

/** Texts, with what they are to be. */
const texts: Readonly<Record<string, readonly [pattern: RegExp, form: string]>> = {
  LOG: [/^(?:info|debug|silent)$/, 'info, debug or silent'],
  REALTIME: [/^(?:on|off)$/, 'on or off'],
  DASHBOARD_URL: url('http://localhost:3000'),
  AI_BASE_URL: url('http://127.0.0.1:11434/v1'),
  CONTROL_DATABASE: [/^[\w-]{1,63}$/, 'letters, digits, - and _, at most 63'],
  TABLE_NAME: [/^[\w.-]{3,255}$/, '3 to 255 letters, digits, -, _ and dots'],
};

/** Said at the start, and not by the first request that needs the setting. */
const refuseUnusable = (env: NodeJS.ProcessEnv): void => {
  for (const [name, [least, most]] of Object.entries(numbers)) if (env[name]) wholeNumber(name, env[name], most, least);
  for (const [name, [pattern, form]] of Object.entries(texts)) {
    const value = env[name];
    if (value && !pattern.test(value))
      throw new StartProblem(`${name} must be ${form}; it is "${value.slice(0, 40)}".`);
  }
  const { MAIL_WEBHOOK_SECRET } = env;
  if (MAIL_WEBHOOK_SECRET && parseSecrets(MAIL_WEBHOOK_SECRET).length === 0) {
    throw new StartProblem('MAIL_WEBHOOK_SECRET must be whsec_ and base64, or several of them with commas between.');
  }
};

const otherFiles = ({ AWS_ENDPOINT_URL_S3, FILES_URL, FILES_BUCKET }: NodeJS.ProcessEnv): LocalSettings['files'] => {
  if (!AWS_ENDPOINT_URL_S3) return undefined;
  if (!FILES_URL) {
    throw new StartProblem('AWS_ENDPOINT_URL_S3 names another S3: say with FILES_URL where its files can be read.');
  }
  return { s3Url: AWS_ENDPOINT_URL_S3, filesUrl: FILES_URL, bucket: FILES_BUCKET || localBucket };
};

/** What stands in a list with commas; an entry of another form → `StartProblem` naming it. */
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
  throw new StartProblem(`${name} must be a list such as ${example}; "${wrong.slice(0, 40)}" is no ${form}.`);
};

/** `address:port` on this machine or network to which webhooks, databases and storages of projects may lead. */
const permittedIn = (env: NodeJS.ProcessEnv): readonly string[] =>
  listIn(
    env,
    'PERMITTED_ADDRESSES',
    /^(?:\d+(?:\.\d+){3}|\[[\da-f:]+\]):\d{1,5}$/i,
    'address and port',
    '127.0.0.1:3000,127.0.0.1:3001',
  );

const originsIn = (env: NodeJS.ProcessEnv): readonly string[] =>
  listIn(
    env,
    'DASHBOARD_ORIGINS',
    /^https?:\/\/[^\s/?#,@]+$/,
    'origin of a page',
    'http://localhost:3000,https://app.example.com',
  );

/** Reads the settings; a value that cannot be used → `StartProblem` naming it. */
export const parseSettings = (env: NodeJS.ProcessEnv): LocalSettings => {
  refuseUnusable(env);
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
      // The emulated provider takes as many mails as there are.
      MAIL_PER_SECOND: '0',
      MAIL_RECIPIENTS_PER_DAY: '0',
      // One process has all functions, and knows at once what is switched on.
      FEED_SETTLE_SECONDS: '0',
      ...rateLimits(env),
      ...(env.MAIL_WEBHOOK_SECRET !== undefined && { MAIL_WEBHOOK_SECRET: env.MAIL_WEBHOOK_SECRET }),
      ...Object.fromEntries(passedOn.flatMap((name) => (env[name] ? [[name, env[name]]] : []))),
    },
  };
};

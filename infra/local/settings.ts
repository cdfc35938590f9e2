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
    AUTH_RATE_LIMIT: limit('AUTH_RATE_LIMIT', 0.6),
    CREDENTIAL_RATE_LIMIT: limit('CREDENTIAL_RATE_LIMIT', 0.2),
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

const refuseUnusableModel = ({ AI_BASE_URL, AI_TIMEOUT_SECONDS }: NodeJS.ProcessEnv): void => {
  if (AI_TIMEOUT_SECONDS) wholeNumber('AI_TIMEOUT_SECONDS', AI_TIMEOUT_SECONDS, 25, 1);
  if (AI_BASE_URL && !/^https?:\/\/[^\s?#]+$/.test(AI_BASE_URL)) {
    throw new StartProblem(
      `AI_BASE_URL must be an address such as http://127.0.0.1:11434/v1; it is "${AI_BASE_URL.slice(0, 40)}".`,
    );
  }
};

/** Said at the start, and not by the first request that needs the setting. */
const refuseUnusable = (env: NodeJS.ProcessEnv): void => {
  const { REALTIME, LOG, PASSWORD_COST, DASHBOARD_TOKEN_SECONDS, DASHBOARD_URL } = env;
  if (LOG && !['info', 'debug', 'silent'].includes(LOG)) {
    throw new StartProblem(`LOG must be info, debug or silent; it is "${LOG.slice(0, 40)}".`);
  }
  if (REALTIME && !['on', 'off'].includes(REALTIME)) {
    throw new StartProblem(`REALTIME must be on or off; it is "${REALTIME.slice(0, 40)}".`);
  }
  if (PASSWORD_COST) wholeNumber('PASSWORD_COST', PASSWORD_COST, 15, 4);
  for (const name of ['ACCOUNT_MAILS_PER_DAY', 'MAIL_RECIPIENTS_PER_DAY'] as const) {
    if (env[name]) wholeNumber(name, env[name], largest);
  }
  if (env.NUDGE_MS) wholeNumber('NUDGE_MS', env.NUDGE_MS, 25_000, 1);
  if (DASHBOARD_TOKEN_SECONDS) wholeNumber('DASHBOARD_TOKEN_SECONDS', DASHBOARD_TOKEN_SECONDS, largest, 1);
  if (DASHBOARD_URL && !/^https?:\/\/[^\s?#]+$/.test(DASHBOARD_URL)) {
    throw new StartProblem(
      `DASHBOARD_URL must be an address such as http://localhost:3000; it is "${DASHBOARD_URL.slice(0, 40)}".`,
    );
  }
};

const otherFiles = ({ AWS_ENDPOINT_URL_S3, FILES_URL, FILES_BUCKET }: NodeJS.ProcessEnv): LocalSettings['files'] => {
  if (!AWS_ENDPOINT_URL_S3) return undefined;
  if (!FILES_URL) {
    throw new StartProblem('AWS_ENDPOINT_URL_S3 names another S3: say with FILES_URL where its files can be read.');
  }
  return { s3Url: AWS_ENDPOINT_URL_S3, filesUrl: FILES_URL, bucket: FILES_BUCKET || localBucket };
};

/** `address:port` on this machine or network to which webhooks, databases and storages of projects may lead. */
const permittedIn = ({ PERMITTED_ADDRESSES = '' }: NodeJS.ProcessEnv): readonly string[] => {
  const list = PERMITTED_ADDRESSES.split(',').flatMap((entry) => entry.trim() || []);
  const wrong = list.find((entry) => !/^(?:\d+(?:\.\d+){3}|\[[\da-f:]+\]):\d{1,5}$/i.test(entry));
  if (wrong === undefined) return list;
  throw new StartProblem(
    `PERMITTED_ADDRESSES must be a list such as 127.0.0.1:3000,127.0.0.1:3001; "${wrong.slice(0, 40)}" is no address and port.`,
  );
};

/** Reads the settings; a value that cannot be used → `StartProblem` naming it. */
export const parseSettings = (env: NodeJS.ProcessEnv): LocalSettings => {
  refuseUnusable(env);
  refuseUnusableModel(env);
  return {
    directory: env.BASALT_DIR || '.basalt',
    port: wholeNumber('PORT', env.PORT || '4000', 65_533),
    mongoUri: env.MONGODB_URI || undefined,
    dynamoEndpoint: env.AWS_ENDPOINT_URL_DYNAMODB || undefined,
    files: otherFiles(env),
    dashboardOrigins: (env.DASHBOARD_ORIGINS ?? '').split(',').flatMap((origin) => origin.trim() || []),
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

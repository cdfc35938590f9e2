import { StartProblem } from './problem.ts';

/** How the local stack was asked to run, from the environment (README, "Settings"). */
export interface LocalSettings {
  /** Where all state is kept. */
  readonly directory: string;
  /** Public API; the dashboard API is on the next port, the mail webhook's function URL on the one after. */
  readonly port: number;
  readonly mongoUri: string | undefined;
  readonly dynamoEndpoint: string | undefined;
  /** Origins of the pages that may call the dashboard API. */
  readonly dashboardOrigins: readonly string[];
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
  };
};

const passedOn = [
  'LOG',
  'PASSWORD_COST',
  'DASHBOARD_TOKEN_SECONDS',
  'TABLE_NAME',
  'CONTROL_DATABASE',
  'MAIL_RETRY_SECONDS',
] as const;

/** Said at the start, and not by the first request that needs the setting. */
const refuseUnusable = ({ LOG, PASSWORD_COST, DASHBOARD_TOKEN_SECONDS }: NodeJS.ProcessEnv): void => {
  if (LOG && !['info', 'debug', 'silent'].includes(LOG)) {
    throw new StartProblem(`LOG must be info, debug or silent; it is "${LOG.slice(0, 40)}".`);
  }
  if (PASSWORD_COST) wholeNumber('PASSWORD_COST', PASSWORD_COST, 15, 4);
  if (DASHBOARD_TOKEN_SECONDS) wholeNumber('DASHBOARD_TOKEN_SECONDS', DASHBOARD_TOKEN_SECONDS, largest, 1);
};

/** Reads the settings; a value that cannot be used → `StartProblem` naming it. */
export const readSettings = (env: NodeJS.ProcessEnv): LocalSettings => {
  refuseUnusable(env);
  return {
    directory: env.BASALT_DIR || '.basalt',
    port: wholeNumber('PORT', env.PORT || '4000', 65_533),
    mongoUri: env.MONGODB_URI || undefined,
    dynamoEndpoint: env.AWS_ENDPOINT_URL_DYNAMODB || undefined,
    dashboardOrigins: (env.DASHBOARD_ORIGINS ?? 'http://localhost:3000')
      .split(',')
      .flatMap((origin) => origin.trim() || []),
    functions: {
      ...rateLimits(env),
      ...Object.fromEntries(passedOn.flatMap((name) => (env[name] ? [[name, env[name]]] : []))),
    },
  };
};

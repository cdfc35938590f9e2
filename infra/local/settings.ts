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

const wholeNumber = (name: string, value: string, most: number): number => {
  if (!/^\d{1,9}$/.test(value) || Number(value) > most) {
    throw new StartProblem(`${name} must be a whole number up to ${most}; it is "${value.slice(0, 40)}".`);
  }
  return Number(value);
};

/** Enough for any day's work: nobody should meet the limits of the deployment (100, 60, 20) by developing. */
const localRateLimit = '10000';

const rateLimits = (env: NodeJS.ProcessEnv): Record<string, string> => {
  const all = wholeNumber('RATE_LIMIT', env.RATE_LIMIT || localRateLimit, 999_999_999);
  return {
    RATE_LIMIT: String(all),
    AUTH_RATE_LIMIT: env.AUTH_RATE_LIMIT || String(Math.ceil(all * 0.6)),
    CREDENTIAL_RATE_LIMIT: env.CREDENTIAL_RATE_LIMIT || String(Math.ceil(all * 0.2)),
  };
};

const passedOn = ['LOG', 'PASSWORD_COST', 'DASHBOARD_TOKEN_SECONDS', 'TABLE_NAME', 'CONTROL_DATABASE'] as const;

/** Reads the settings; a value that cannot be used → `StartProblem` naming it. */
export const readSettings = (env: NodeJS.ProcessEnv): LocalSettings => ({
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
});

import type { Choice, DeploymentSettings } from '../settings/settings.ts';
import type { Egress } from './egress.ts';
import type { Sessions } from './grants.ts';

type Variables = Readonly<Record<string, string>>;

/** The variables that have a value. */
const given = (variables: Readonly<Record<string, string | undefined>>): Variables =>
  Object.fromEntries(Object.entries(variables).filter((entry): entry is [string, string] => entry[1] !== undefined));

/** For all functions: a text that restarts them when it changes. */
export const commonEnvironment = ({ restart }: DeploymentSettings): Variables => given({ RESTART: restart });

/** The given settings, for the next deployment and the doctor. */
export const recordEnvironment = (chosen: Choice): Variables => ({ DEPLOYED_SETTINGS: JSON.stringify(chosen) });

/** The rate limits of functions behind a gateway. */
export const limitsEnvironment = (settings: DeploymentSettings): Variables => ({
  RATE_LIMIT: settings.rateLimit,
  AUTH_RATE_LIMIT: settings.authRateLimit,
  CREDENTIAL_RATE_LIMIT: settings.credentialRateLimit,
  RATE_BLOCK: settings.rateBlock,
});

/** Sender and daily recipient limit of the shared mail key. */
export const sharedMailEnvironment = ({ emailFrom, mailRecipientsPerDay }: DeploymentSettings): Variables => ({
  MAIL_RECIPIENTS_PER_DAY: mailRecipientsPerDay,
  ...given({ EMAIL_FROM: emailFrom }),
});

/** The rate of emails. */
export const mailPaceEnvironment = ({ mailPerSecond }: DeploymentSettings): Variables => ({
  MAIL_PER_SECOND: mailPerSecond,
});

/** For the functions of one API. */
export const apiEnvironment = (
  settings: DeploymentSettings,
  consoleUrl: string,
  { url, viewerSecret }: { readonly url: string; readonly viewerSecret: string },
): Readonly<Record<Sessions, Variables>> => ({
  users: {},
  developers: {
    // A sign-in with GitHub must end at the host where it began, because its cookie is there.
    DASHBOARD_API_URL: settings.dashboardApiUrl ?? (settings.dashboardUrl === undefined ? consoleUrl : url),
    DEVELOPER_SIGNUP: settings.developerSignup,
    DASHBOARD_ORIGINS: [consoleUrl, ...settings.dashboardOrigins].join(','),
    DASHBOARD_URL: settings.dashboardUrl ?? consoleUrl,
    VIEWER_SECRET: viewerSecret,
    ...given({ DASHBOARD_GITHUB_CLIENT_ID: settings.dashboardGithubClientId }),
  },
});

/** For the functions of one area. */
export const areaEnvironment = (
  egress: Egress | undefined,
  realtimeUrl: string | undefined,
): Readonly<Record<string, Variables>> => ({
  realtime: given({ REALTIME_URL: realtimeUrl }),
  'dashboard/database': egress ? { VERIFIER_IP_A: egress.addresses.a, VERIFIER_IP_B: egress.addresses.b } : {},
});

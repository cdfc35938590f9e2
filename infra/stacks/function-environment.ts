import type { Choice, DeploymentSettings } from '../settings/settings.ts';
import type { Egress } from './egress.ts';
import type { Sessions } from './grants.ts';

type Variables = Readonly<Record<string, string>>;

/** Only those that the deployment has chosen. */
const given = (variables: Readonly<Record<string, string | undefined>>): Variables =>
  Object.fromEntries(Object.entries(variables).filter((entry): entry is [string, string] => entry[1] !== undefined));

/** What every function has: a text that starts it afresh when it changes. */
export const commonEnvironment = ({ restart }: DeploymentSettings): Variables => given({ RESTART: restart });

/** What was chosen, written down where the next deployment and the doctor find it. */
export const recordEnvironment = (chosen: Choice): Variables => ({ DEPLOYED_SETTINGS: JSON.stringify(chosen) });

/** The limits that functions behind a gateway count by. */
export const limitsEnvironment = (settings: DeploymentSettings): Variables => ({
  RATE_LIMIT: settings.rateLimit,
  AUTH_RATE_LIMIT: settings.authRateLimit,
  CREDENTIAL_RATE_LIMIT: settings.credentialRateLimit,
  RATE_BLOCK: settings.rateBlock,
});

/** The sender of mails with the key that all projects share, and to how many addresses it sends a day. */
export const sharedMailEnvironment = ({ emailFrom, mailRecipientsPerDay }: DeploymentSettings): Variables => ({
  MAIL_RECIPIENTS_PER_DAY: mailRecipientsPerDay,
  ...given({ EMAIL_FROM: emailFrom }),
});

/** How fast mails may go out. */
export const mailPaceEnvironment = ({ mailPerSecond }: DeploymentSettings): Variables => ({
  MAIL_PER_SECOND: mailPerSecond,
});

/** What only the functions of one API need to know. */
export const apiEnvironment = (
  settings: DeploymentSettings,
  consoleUrl: string,
  { url, viewerSecret }: { readonly url: string; readonly viewerSecret: string },
): Readonly<Record<Sessions, Variables>> => ({
  users: {},
  developers: {
    // A sign-in with GitHub ends at the host that it began at, which is where its cookie is.
    DASHBOARD_API_URL: settings.dashboardApiUrl ?? (settings.dashboardUrl === undefined ? consoleUrl : url),
    DEVELOPER_SIGNUP: settings.developerSignup,
    DASHBOARD_ORIGINS: [consoleUrl, ...settings.dashboardOrigins].join(','),
    DASHBOARD_URL: settings.dashboardUrl ?? consoleUrl,
    VIEWER_SECRET: viewerSecret,
    ...given({ DASHBOARD_GITHUB_CLIENT_ID: settings.dashboardGithubClientId }),
  },
});

/** What only the functions of one area need to know. */
export const areaEnvironment = (
  egress: Egress | undefined,
  realtimeUrl: string | undefined,
): Readonly<Record<string, Variables>> => ({
  realtime: given({ REALTIME_URL: realtimeUrl }),
  'dashboard/database': egress ? { VERIFIER_IP_A: egress.addresses.a, VERIFIER_IP_B: egress.addresses.b } : {},
});

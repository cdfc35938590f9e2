import path from 'node:path';
import { startHelper } from './helper-process.ts';
import type { LocalServiceOptions } from './local-service.ts';
import { preferPort, probePort } from './ports.ts';

export interface Providers {
  /** Origins of the emulated GitHub, Google and mail provider. */
  readonly githubUrl: string;
  readonly googleUrl: string;
  readonly mailUrl: string;
  stop(): Promise<void>;
}

/** Where the mail provider tells of its mails, and the setting of who listens there. */
export interface MailWebhook {
  readonly url: string;
  readonly secrets: string;
}

const host = path.join(import.meta.dirname, 'provider-host.ts');

/** Preferred places after the port of the public API, so that a page stays where it was from one start to the next. */
const places = { mail: 3, github: 4, google: 5 } as const;

/**
 * Starts GitHub, Google and the mail provider as emulations on loopback, on the ports after `port` where those are
 * free. What they hold, mails included, is gone when they stop.
 */
export const startProviders = async (
  port: number,
  webhook: MailWebhook,
  options: LocalServiceOptions,
): Promise<Providers> => {
  const portOf = (place: number): Promise<number> => preferPort(port === 0 ? 0 : port + place);
  const [mail, github, google] = [await portOf(places.mail), await portOf(places.github), await portOf(places.google)];
  const args = [...[github, google, mail, await probePort(0)].map(String), webhook.url];
  const env = { MAIL_WEBHOOK_SECRET: webhook.secrets };
  const { stop } = await startHelper({ ...options, name: 'The emulated providers', file: host, args, env });
  const at = (number: number): string => `http://127.0.0.1:${number}`;
  return { githubUrl: at(github), googleUrl: at(google), mailUrl: at(mail), stop };
};

/** What tells functions where the providers are. */
export const providerEnvironment = ({ githubUrl, googleUrl, mailUrl }: Providers): Record<string, string> => ({
  GITHUB_URL: githubUrl,
  GITHUB_API_URL: githubUrl,
  // The emulation takes any app.
  DASHBOARD_GITHUB_CLIENT_ID: 'local',
  DASHBOARD_GITHUB_SECRET: 'local',
  GOOGLE_AUTHORIZATION_URL: `${googleUrl}/o/oauth2/v2/auth`,
  GOOGLE_TOKEN_URL: `${googleUrl}/oauth2/token`,
  GOOGLE_USERINFO_URL: `${googleUrl}/oauth2/v2/userinfo`,
  MAIL_PROVIDER_URL: mailUrl,
  MAIL_PROVIDER_KEY: 're_local',
  EMAIL_FROM: 'Basalt <no-reply@basalt.local>',
});

/** The page on which a person reads the mails that went out. */
export const inboxOf = ({ mailUrl }: Providers): string => `${mailUrl}/inbox`;
